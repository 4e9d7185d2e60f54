"use client";

import "@xyflow/react/dist/style.css";
import { Skeleton, Text, useComputedColorScheme } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Background, Controls, type Edge, MarkerType, type Node, Position, ReactFlow } from "@xyflow/react";
import { useEffect, useState } from "react";
import { words } from "../_words.ts";

/** States and the actions between them, laid out in layers by ELK and drawn by React Flow. */

/** A state of a graph. */
export interface GraphState {
  id: string;
  label: string;
  /** A second line. */
  note?: string;
  /** How it stands out. `passed`: on the way of a flow; `last`: where it ended; `failed`: where it failed. */
  mark?: "passed" | "last" | "failed";
}

/** What leads from a state to another one. A pair of states has at most one. */
export interface GraphStep {
  from: string;
  to: string;
  label: string;
  isPassed?: boolean;
  /** How thick it is drawn, from 0 to 1. */
  weight?: number;
}

const WIDTH = 200;
const HEIGHT = 56;
const MAX_STROKE = 8;

/** Space between layers; side by side, labels of edges have to fit into it. */
const directions = {
  RIGHT: { layers: "150", source: Position.Right, target: Position.Left },
  DOWN: { layers: "64", source: Position.Bottom, target: Position.Top },
} as const;

type Direction = keyof typeof directions;

type Places = ReadonlyMap<string, { x: number; y: number }>;

/** Loaded with the first graph: its code is larger than that of all pages. */
async function layOut(ids: readonly string[], pairs: readonly [string, string][], direction: Direction) {
  const { default: ELK } = await import("elkjs/lib/elk.bundled.js");
  const { children = [] } = await new ELK().layout({
    id: "states",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": direction,
      "elk.spacing.nodeNode": "40",
      "elk.layered.spacing.nodeNodeBetweenLayers": directions[direction].layers,
    },
    children: ids.map((id) => ({ id, width: WIDTH, height: HEIGHT })),
    edges: pairs.map(([from, to], index) => ({ id: String(index), sources: [from], targets: [to] })),
  });
  return new Map(children.map(({ id, x = 0, y = 0 }) => [id, { x, y }]));
}

const colours = {
  passed: "var(--mantine-primary-color-filled)",
  last: "var(--mantine-color-teal-filled)",
  failed: "var(--mantine-color-red-filled)",
} as const;

/**
 * A drawing for the eye: what it shows stands beside it as text, too, where the keyboard and screen readers find it.
 *
 * @param label of the drawing
 */
export function StateGraph({
  label,
  states,
  steps,
  height = 420,
  onState,
}: {
  label: string;
  states: readonly GraphState[];
  steps: readonly GraphStep[];
  height?: number;
  onState?(id: string): void;
}) {
  const scheme = useComputedColorScheme();
  const isWide = useMediaQuery("(min-width: 48em)", undefined, { getInitialValueInEffect: false });
  const direction: Direction = isWide ? "RIGHT" : "DOWN";
  const [places, setPlaces] = useState<Places | null>(null);
  const shape = JSON.stringify([states.map(({ id }) => id), steps.map(({ from, to }) => [from, to])]);
  useEffect(() => {
    let isCurrent = true;
    const [ids, pairs] = JSON.parse(shape) as [string[], [string, string][]];
    void layOut(ids, pairs, direction).then((found) => isCurrent && setPlaces(found));
    return () => {
      isCurrent = false;
    };
  }, [shape, direction]);
  const isPlaced = places !== null && states.every(({ id }) => places.has(id));
  const { source, target } = directions[direction];
  const nodes: Node[] = states.map(({ id, label: text, note, mark }) => ({
    id,
    position: places?.get(id) ?? { x: 0, y: 0 },
    sourcePosition: source,
    targetPosition: target,
    data: {
      label: (
        <>
          <Text size="sm" fw={mark ? 600 : 400} lh={1.2} truncate>
            {text}
          </Text>
          {note && (
            <Text size="xs" lh={1.3} truncate>
              {note}
            </Text>
          )}
        </>
      ),
    },
    style: {
      width: WIDTH,
      height: HEIGHT,
      display: "flex",
      flexDirection: "column",
      justifyContent: "center",
      borderWidth: mark ? 2 : 1,
      cursor: onState ? "pointer" : "default",
      ...(mark ? { borderColor: colours[mark] } : {}),
      borderRadius: "var(--mantine-radius-md)",
    },
  }));
  const edges: Edge[] = steps.map(({ from, to, label: text, isPassed, weight = 0 }) => ({
    id: `${from} ${to}`,
    source: from,
    target: to,
    label: text,
    type: "smoothstep",
    markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, markerUnits: "userSpaceOnUse" },
    zIndex: isPassed ? 1 : 0,
    style: {
      strokeWidth: isPassed ? 2.5 : 1 + weight * (MAX_STROKE - 1),
      ...(isPassed ? { stroke: colours.passed } : {}),
    },
  }));
  return (
    <section aria-label={label} style={{ height }} className="state-graph">
      {isPlaced ? (
        <ReactFlow
          // A changed layout is fitted anew.
          key={`${direction} ${shape}`}
          nodes={nodes}
          edges={edges}
          colorMode={scheme}
          fitView
          fitViewOptions={{ maxZoom: 1, padding: 0.08 }}
          minZoom={0.1}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={onState !== undefined}
          preventScrolling={false}
          zoomOnScroll={false}
          onNodeClick={(_, node) => onState?.(node.id)}
          proOptions={{ hideAttribution: true }}
          ariaLabelConfig={words.graph.controls}
        >
          <Background />
          <Controls showInteractive={false} />
        </ReactFlow>
      ) : (
        <Skeleton height={height} />
      )}
    </section>
  );
}
