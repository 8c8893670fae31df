import type { HistoryEntry } from './history.js'
import { describeFault, endOf, type PlannedFault } from './planned-fault.js'
import type { RunResult } from './run-plan.js'

const LEFT = 80
const WIDTH = 1_000
const LANE = 46
const TOP = 40

const colours = {
  held: '#2e9e5b',
  paused: '#b0b0b0',
  crashed: '#444444',
  network: '#d9822b',
  violation: '#d0342c',
} as const

interface Bar {
  readonly from: number
  readonly to: number
  readonly colour: string
  readonly title: string
}

/** A drawing of a simulation: a lane for the store and each node, held leases in green, faults above. */
export function drawTimelineAsSvg({ plan, history, violation }: RunResult): string {
  const end = Math.max(violation?.at ?? 0, history.at(-1)?.at ?? 0, 1)
  const x = (at: number): number => LEFT + (Math.min(at, end) / end) * WIDTH
  const lanes = ['store', ...plan.machines.map((_, node) => `node ${node}`)]
  const height = TOP + lanes.length * LANE + 30
  const parts = lanes.map((title, lane) => text(8, TOP + lane * LANE + 26, title))
  parts.push(drawLegend())
  for (const [node] of plan.machines.entries()) {
    for (const bar of heldBy(history, node, end)) parts.push(rectangle(bar, x, node + 1, 14, 18))
  }
  for (const fault of plan.faults) parts.push(...drawFault(fault, plan.machines.length, x))
  for (const { at, actor, event, detail } of history) {
    if (actor === 'store') parts.push(mark(x(at), 0, colours.held, `${event} ${detail}`))
    else if (typeof actor === 'number' && event === 'lost') {
      parts.push(mark(x(at), actor + 1, colours.violation, `lost: ${detail}`))
    }
  }
  if (violation !== undefined) {
    const at = x(violation.at)
    const line = `<line x1="${at}" y1="${TOP - 20}" x2="${at}" y2="${height - 25}" stroke="${colours.violation}" stroke-width="2"/>`
    parts.push(
      line,
      text(LEFT, height - 8, `${violation.check} at ${Math.round(violation.at)} ms: ${violation.message}`),
    )
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${LEFT + WIDTH + 20}" height="${height}" ` +
    `font-family="sans-serif" font-size="12">${text(8, 18, `seed ${plan.seed}, ${plan.store}, 0 to ${Math.round(end)} ms`)}` +
    `${parts.join('')}</svg>\n`
  )
}

function drawLegend(): string {
  const entries = Object.entries(colours).map(([title, colour], place) => {
    const x = LEFT + WIDTH - 90 * (Object.keys(colours).length - place)
    return `<rect x="${x}" y="8" width="12" height="12" fill="${colour}"/>${text(x + 18, 18, title)}`
  })
  return entries.join('')
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

function drawFault(fault: PlannedFault, nodes: number, x: (at: number) => number): string[] {
  const colour = faultColour(fault)
  const bar = { from: fault.at, to: endOf(fault), colour, title: describeFault(fault) }
  const lanes = 'node' in fault ? [fault.node + 1] : Array.from({ length: nodes + 1 }, (_, lane) => lane)
  return lanes.map((lane) => rectangle(bar, x, lane, 4, 8))
}

function faultColour({ kind }: PlannedFault): string {
  if (kind === 'crash') return colours.crashed
  return kind === 'pause' || kind === 'suspend' ? colours.paused : colours.network
}

function rectangle(
  { from, to, colour, title }: Bar,
  x: (at: number) => number,
  lane: number,
  top: number,
  height: number,
): string {
  const width = Math.max(x(to) - x(from), 2)
  return (
    `<rect x="${x(from)}" y="${TOP + lane * LANE + top}" width="${width}" height="${height}" fill="${colour}">` +
    `<title>${escaped(title)}</title></rect>`
  )
}

function mark(x: number, lane: number, colour: string, title: string): string {
  return `<circle cx="${x}" cy="${TOP + lane * LANE + 22}" r="4" fill="${colour}"><title>${escaped(title)}</title></circle>`
}

function text(x: number, y: number, content: string): string {
  return `<text x="${x}" y="${y}">${escaped(content)}</text>`
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
