/**
 * Makes `instanceof` recognise the errors of every copy of a class. Next bundles copies of each module, so an error that
 * a shared object throws, such as the runtime, may belong to another copy than the one of the module that catches it.
 *
 * @param label name of the class, the same in every copy
 */
export function recognizeEveryCopy(errorClass: { prototype: Error }, label: string): void {
  const brand = Symbol.for(`stile.${label}`);
  Object.defineProperty(errorClass.prototype, brand, { value: true });
  Object.defineProperty(errorClass, Symbol.hasInstance, {
    value: (value: unknown) => typeof value === "object" && value !== null && brand in value,
  });
}
