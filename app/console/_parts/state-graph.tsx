"use client";

import "@xyflow/react/dist/style.css";
import { Skeleton, Text, useComputedColorScheme } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import {
  Background,
  BaseEdge,
  Controls,
  type Edge,
  type EdgeProps,
  getViewportForBounds,
  MarkerType,
  type Node,
  Position,
  ReactFlow,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import type { ElkNode } from "elkjs/lib/elk-api";
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
const HEIGHT = 64;
const MAX_STROKE = 8;

/** Of layers below each other. */
const NARROW_HEIGHT = 520;

/** On which sides of a state ways end and begin. */
const directions = {
  RIGHT: { source: Position.Right, target: Position.Left },
  DOWN: { source: Position.Bottom, target: Position.Top },
} as const;

type Direction = keyof typeof directions;

interface Point {
  x: number;
  y: number;
}

/** Where everything is: states by id; of each step, in their order, the points of its line and the place of its label. */
interface Layout {
  /** What was laid out. */
  of: string;
  width: number;
  height: number;
  states: ReadonlyMap<string, Point>;
  steps: readonly { points: Point[]; label: Point }[];
}

const LABEL_HEIGHT = 18;
const LABEL_CHARACTER = 6.8;

/** Loaded with the first graph: its code is larger than that of all pages. */
async function layOut(shape: string, direction: Direction): Promise<Omit<Layout, "of">> {
  const { default: ELK } = await import("elkjs/lib/elk.bundled.js");
  const [ids, ways] = JSON.parse(shape) as [string[], [from: string, to: string, label: string][]];
  const graph: ElkNode = {
    id: "states",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": direction,
      "elk.edgeRouting": "ORTHOGONAL",
      "elk.spacing.nodeNode": "28",
      "elk.spacing.edgeNode": "20",
      "elk.layered.spacing.nodeNodeBetweenLayers": "32",
    },
    children: ids.map((id) => ({ id, width: WIDTH, height: HEIGHT })),
    edges: ways.map(([from, to, text], index) => ({
      id: String(index),
      sources: [from],
      targets: [to],
      labels: text ? [{ text, width: text.length * LABEL_CHARACTER + 8, height: LABEL_HEIGHT }] : [],
    })),
  };
  const { children = [], edges = [], width = 0, height = 0 } = await new ELK().layout(graph);
  return {
    width,
    height,
    states: new Map(children.map(({ id, x = 0, y = 0 }) => [id, { x, y }])),
    steps: edges.map(({ sections: [section] = [], labels: [label] = [] }) => ({
      points: section ? [section.startPoint, ...(section.bendPoints ?? []), section.endPoint] : [],
      label: {
        x: (label?.x ?? 0) + (label?.width ?? 0) / 2,
        y: (label?.y ?? 0) + (label?.height ?? 0) / 2,
      },
    })),
  };
}

/** A line as it was laid out, which leads around the states between its ends. */
function RoutedEdge({ id, data, label, markerEnd, style }: EdgeProps<Edge<Layout["steps"][number]>>) {
  if (!data) return null;
  const path = data.points.map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${x},${y}`).join(" ");
  return (
    <BaseEdge
      id={id}
      path={path}
      label={label}
      labelX={data.label.x}
      labelY={data.label.y}
      labelBgPadding={[3, 1]}
      style={style ?? {}}
      {...(markerEnd ? { markerEnd } : {})}
    />
  );
}

const edgeTypes = { routed: RoutedEdge };

const colours = {
  passed: "var(--stile-passed)",
  last: "var(--stile-better)",
  failed: "var(--stile-worse)",
} as const;

const LINE = "var(--stile-line)";

/** How the whole of the drawing is shown when it is asked for. */
const fitting = { maxZoom: 1, padding: 0.08 };

/** Below it texts cannot be read: the first view of a larger drawing shows its beginning, and the rest is moved into sight. */
const MIN_FIRST_ZOOM = 0.85;

/**
 * Shows the drawing anew when its place has another size: a window that is turned or widened, or a page that settles.
 *
 * @param first the state that the drawing begins with
 */
function FirstView({ first, drawn }: { first: Point; drawn: Pick<Layout, "width" | "height"> }) {
  const { setViewport } = useReactFlow();
  const width = useStore((store) => store.width);
  const height = useStore((store) => store.height);
  useEffect(() => {
    if (width === 0 || height === 0) return;
    const bounds = { x: 0, y: 0, width: drawn.width, height: drawn.height };
    const fitted = getViewportForBounds(bounds, width, height, MIN_FIRST_ZOOM, 1, fitting.padding);
    const { zoom } = fitted;
    /** Where the drawing begins on an axis: the middle of the first state is in that of the place, unless an end is not. */
    const beginning = (middle: number, size: number, place: number, fit: number) =>
      size * zoom <= place ? fit : Math.min(0, Math.max(place - size * zoom, place / 2 - middle * zoom));
    void setViewport({
      zoom,
      x: beginning(first.x + WIDTH / 2, drawn.width, width, fitted.x),
      y: beginning(first.y + HEIGHT / 2, drawn.height, height, fitted.y),
    });
  }, [width, height, first, drawn, setViewport]);
  return null;
}

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
  isNarrow = false,
  onState,
}: {
  label: string;
  states: readonly GraphState[];
  steps: readonly GraphStep[];
  /** Where there is room for layers side by side. */
  height?: number;
  /** Whether it has less than the width of the page. */
  isNarrow?: boolean;
  onState?(id: string): void;
}) {
  const scheme = useComputedColorScheme();
  const isWide = useMediaQuery("(min-width: 48em)", undefined, { getInitialValueInEffect: false });
  const direction: Direction = isWide && !isNarrow ? "RIGHT" : "DOWN";
  const [layout, setLayout] = useState<Layout | null>(null);
  const shape = JSON.stringify([
    states.map(({ id }) => id),
    steps.map(({ from, to, label: text }) => [from, to, text]),
  ]);
  const wanted = `${direction} ${shape}`;
  useEffect(() => {
    let isCurrent = true;
    void layOut(shape, direction).then(
      (found) => isCurrent && setLayout({ of: `${direction} ${shape}`, ...found }),
    );
    return () => {
      isCurrent = false;
    };
  }, [shape, direction]);
  const isPlaced = layout?.of === wanted;
  const shownHeight = direction === "RIGHT" ? height : NARROW_HEIGHT;
  const { source, target } = directions[direction];
  const first = layout?.states.get(states[0]?.id ?? "");
  const nodes: Node[] = states.map(({ id, label: text, note, mark }) => ({
    id,
    // Without its size a state is not shown until it was measured, which is done anew with each drawing of the page.
    width: WIDTH,
    height: HEIGHT,
    position: layout?.states.get(id) ?? { x: 0, y: 0 },
    sourcePosition: source,
    targetPosition: target,
    data: {
      label: (
        <>
          <Text size="sm" fw={mark ? 600 : 400} lh={1.2} lineClamp={2} title={text}>
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
      padding: "2px 8px",
      display: "flex",
      flexDirection: "column",
      justifyContent: "center",
      borderWidth: mark ? 2 : 1,
      cursor: onState ? "pointer" : "default",
      borderColor: mark ? colours[mark] : LINE,
      borderRadius: "var(--mantine-radius-md)",
    },
  }));
  const edges: Edge[] = steps.map(({ from, to, label: text, isPassed, weight = 0 }, index) => ({
    id: `${from} ${to}`,
    source: from,
    target: to,
    label: text,
    type: "routed",
    data: { ...layout?.steps[index] },
    markerEnd: {
      type: MarkerType.ArrowClosed,
      width: 14,
      height: 14,
      markerUnits: "userSpaceOnUse",
      color: isPassed ? colours.passed : LINE,
    },
    zIndex: isPassed ? 1 : 0,
    style: {
      strokeWidth: isPassed ? 2.5 : 1 + weight * (MAX_STROKE - 1),
      stroke: isPassed ? colours.passed : LINE,
    },
  }));
  return (
    <section aria-label={label} style={{ height: shownHeight }} className="state-graph">
      {isPlaced ? (
        <ReactFlow
          // A changed layout is fitted anew.
          key={wanted}
          nodes={nodes}
          edges={edges}
          edgeTypes={edgeTypes}
          colorMode={scheme}
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
          <Controls position="top-right" showInteractive={false} fitViewOptions={fitting} />
          {first && <FirstView first={first} drawn={layout} />}
        </ReactFlow>
      ) : (
        <Skeleton height={shownHeight} />
      )}
    </section>
  );
}
