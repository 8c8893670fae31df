import type { HistoryEntry } from './history.js'
import { type Bar, colours, LaneDrawing } from './lane-drawing.js'
import { describeFault, endOf, type PlannedFault } from './planned-fault.js'
import type { RunResult } from './run-plan.js'

/** A drawing of a simulation: a lane for the store and each node, held leases in green, faults above. */
export function drawTimelineAsSvg({ plan, history, violation }: RunResult): string {
  const end = Math.max(violation?.at ?? 0, history.at(-1)?.at ?? 0, 1)
  const drawing = new LaneDrawing({
    title: `seed ${plan.seed}, ${plan.store}, 0 to ${Math.round(end)} ms`,
    lanes: ['store', ...plan.machines.map((_, node) => `node ${node}`)],
    from: 0,
    to: end,
  })
  for (const [node] of plan.machines.entries()) {
    for (const bar of heldBy(history, node, end)) drawing.bar(node + 1, bar)
  }
  for (const fault of plan.faults) drawFault(drawing, fault, plan.machines.length)
  for (const { at, actor, event, detail } of history) {
    if (actor === 'store') drawing.mark(0, at, colours.held, `${event} ${detail}`)
    else if (typeof actor === 'number' && event === 'lost') {
      drawing.mark(actor + 1, at, colours.violation, `lost: ${detail}`)
    }
  }
  if (violation !== undefined) {
    const { check, at, message } = violation
    drawing.violation(at, `${check} at ${Math.round(at)} ms: ${message}`)
  }
  return drawing.toString()
}

/** From each grant to the loss, the release or the crash that ended it. */
function heldBy(history: readonly HistoryEntry[], node: number, end: number): Bar[] {
  const bars: Bar[] = []
  let from: HistoryEntry | undefined
  const close = (to: number): void => {
    if (from !== undefined) bars.push({ from: from.at, to, colour: colours.held, title: from.detail })
    from = undefined
  }
  for (const entry of history) {
    if (entry.actor !== node) continue
    if (entry.event === 'acquired') from ??= entry
    else if (['release', 'lost', 'crashed'].includes(entry.event)) close(entry.at)
  }
  close(end)
  return bars
}

function drawFault(drawing: LaneDrawing, fault: PlannedFault, nodes: number): void {
  const bar = { from: fault.at, to: endOf(fault), colour: faultColour(fault), title: describeFault(fault) }
  const lanes = 'node' in fault ? [fault.node + 1] : Array.from({ length: nodes + 1 }, (_, lane) => lane)
  for (const lane of lanes) drawing.thinBar(lane, bar)
}

function faultColour({ kind }: PlannedFault): string {
  if (kind === 'crash') return colours.crashed
  return kind === 'pause' || kind === 'suspend' ? colours.paused : colours.network
}
