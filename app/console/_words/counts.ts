export const countOfUsers = (count: number) => (count === 1 ? "1 user" : `${count} users`);
