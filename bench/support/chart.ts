import { shown } from './table.js'

/** Bars below each other. */
export interface Chart {
  readonly title: string
  readonly bars: readonly Bar[]
}

export interface Bar {
  readonly label: string
  readonly value: number
  /** The value as it is written at the bar; as in a table unless given. */
  readonly text?: string
  readonly ours: boolean
}

const WIDTH = 920
const LABELS = 430
const VALUES = 110
const ROW = 22
const HEAD = 44
const SPAN = WIDTH - LABELS - VALUES

const style = `
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 14px }
  .label { text-anchor: end }
  .bar { fill: #8c959f }
  .ours { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .bar { fill: #6e7681 }
    .ours { fill: #58a6ff }
  }`

/** The charts below each other, as plain SVG that can be read on light and on dark ground. */
export function toSvg(title: string, charts: readonly Chart[]): string {
  let top = 0
  const drawn: string[] = []
  for (const chart of charts) {
    drawn.push(`<g transform="translate(0 ${top})">${draw(chart)}\n</g>`)
    top += HEAD + chart.bars.length * ROW
  }
  const height = top + 12
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${style}\n</style>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n')
}

function draw({ title, bars }: Chart): string {
  const most = Math.max(0, ...bars.map(({ value }) => value).filter(Number.isFinite))
  const lines = bars.map((bar, place) => drawBar(bar, HEAD + place * ROW, most))
  return [`\n<text class="title" x="12" y="${HEAD - 16}">${escaped(title)}</text>`, ...lines].join('\n')
}

function drawBar({ label, value, text = shown(value), ours }: Bar, top: number, most: number): string {
  // What is nought, or was not measured, is still a line that the eye can find.
  const length = most > 0 && value > 0 ? Math.max((value / most) * SPAN, 1) : 1
  return [
    `<text class="label" x="${LABELS - 8}" y="${top + 12}">${escaped(label)}</text>`,
    `<rect class="${ours ? 'ours' : 'bar'}" x="${LABELS}" y="${top}" width="${length.toFixed(1)}" height="${ROW - 6}" rx="2"/>`,
    `<text x="${(LABELS + length + 6).toFixed(1)}" y="${top + 12}">${escaped(text)}</text>`,
  ].join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
