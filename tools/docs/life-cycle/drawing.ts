import type { Phase, PhaseChange } from './walk.js'

const WIDTH = 560
const HEIGHT = 470

/** The middle of the box of each phase. */
const places: Readonly<Record<Phase, readonly [x: number, y: number]>> = {
  idle: [280, 40],
  acquiring: [90, 160],
  held: [90, 290],
  jeopardy: [400, 290],
  releasing: [280, 430],
}

interface Arrow {
  /** The path, in the syntax of SVG. */
  readonly path: string
  /** Where its words begin, and what they are: `undefined` for a list of all that leads to the change. */
  readonly at: readonly [x: number, y: number]
  readonly anchor?: 'end' | 'middle'
  readonly words?: readonly string[]
}

/** The arrows between the phases. The words that are not given here come from the walk. */
const arrows: Readonly<Record<string, Arrow>> = {
  'idle acquiring': { path: 'M222,40 H90 V138', at: [100, 32] },
  'acquiring idle': { path: 'M148,160 C210,150 250,120 262,62', at: [100, 96], words: ['nobody waits,', 'closed'] },
  'acquiring held': { path: 'M90,182 V268', at: [100, 222], words: ['granted'] },
  'held jeopardy': { path: 'M148,282 H342', at: [245, 274], anchor: 'middle', words: ['heartbeat failed or late'] },
  'jeopardy held': { path: 'M342,302 H148', at: [245, 320], anchor: 'middle', words: ['renewed'] },
  'held idle': { path: 'M130,268 C180,220 270,170 276,62', at: [238, 196], words: ['lost'] },
  'jeopardy idle': { path: 'M400,268 C400,180 330,120 298,62', at: [398, 200], words: ['lost'] },
  'held releasing': { path: 'M90,312 C90,400 150,430 222,430', at: [112, 372], words: ['release, hand-off'] },
  'jeopardy releasing': { path: 'M400,312 C400,370 340,380 306,408', at: [396, 360], words: ['release, hand-off'] },
  'releasing idle': { path: 'M338,430 H530 V40 H338', at: [520, 420], anchor: 'end', words: ['released, or unknown'] },
}

/** The life cycle as an SVG. Throws if there is a change without an arrow, or an arrow without a change. */
export function lifeCycleDrawing(changes: readonly PhaseChange[]): string {
  const drawn = changes.map((change) => {
    const arrow = arrows[`${change.from} ${change.to}`]
    if (arrow === undefined) throw new Error(`the drawing has no arrow from ${change.from} to ${change.to}`)
    return arrowMarkup(arrow, change)
  })
  if (drawn.length < Object.keys(arrows).length)
    throw new Error('the drawing has an arrow that the engine does not take')
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img">`,
    '<title>The phases of a lease, and what leads from one to another</title>',
    STYLE,
    '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">',
    '<path class="head" d="M0,0 L8,4 L0,8 z"/></marker>',
    ...drawn,
    ...Object.entries(places).map(([phase, [x, y]]) => boxMarkup(phase, x, y)),
    '</svg>',
  ].join('\n')}\n`
}

const STYLE = `<style>
  text { font: 14px system-ui, sans-serif; fill: #24292f }
  .phase { font-weight: 600; text-anchor: middle }
  .box { fill: #ddf4ff; stroke: #0969da }
  .arrow { fill: none; stroke: #57606a; stroke-width: 1.5; marker-end: url(#head) }
  .head { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .box { fill: #0c2d4d; stroke: #58a6ff }
    .arrow { stroke: #8c959f }
    .head { fill: #8c959f }
  }
</style>`

function arrowMarkup({ path, at: [x, y], anchor = undefined, words }: Arrow, change: PhaseChange): string {
  const lines = words ?? [change.when.join(', ')]
  const texts = lines.map((line, index) => {
    const turned = anchor === undefined ? '' : ` text-anchor="${anchor}"`
    return `<text x="${x}" y="${y + index * 17}"${turned}>${line}</text>`
  })
  return [`<path class="arrow" d="${path}"/>`, ...texts].join('\n')
}

function boxMarkup(phase: string, x: number, y: number): string {
  return `<rect class="box" x="${x - 58}" y="${y - 22}" width="116" height="44" rx="8"/><text class="phase" x="${x}" y="${y + 5}">${phase}</text>`
}
