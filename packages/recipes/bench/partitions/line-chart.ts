/** One line of a chart: a value for each number of workers. */
interface Line {
  readonly label: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface LineChart {
  readonly title: string
  readonly xLabel: string
  readonly lines: readonly Line[]
  /** The largest value of the vertical axis; by the points unless given. */
  readonly most?: number
  /** With a logarithmic vertical axis, from 1 on. */
  readonly isLogarithmic?: boolean
}

const WIDTH = 760
const HEIGHT = 300
const PLOT = { left: 60, top: 44, width: 500, height: 200 }
const COLOURS = ['#0969da', '#bf3989', '#1a7f37', '#bc4c00', '#8250df', '#6e7781']

const style = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 14px }
  .axis { stroke: #8c959f; fill: none }
  .grid { stroke: #8c959f; stroke-opacity: 0.25 }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }`

/** The charts below each other, as plain SVG that can be read on light and on dark ground. */
export function toSvg(title: string, charts: readonly LineChart[]): string {
  const height = charts.length * HEIGHT
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${title}</title>`,
    `<style>${style}\n</style>`,
    ...charts.map((chart, place) => `<g transform="translate(0 ${place * HEIGHT})">\n${draw(chart)}\n</g>`),
    '</svg>',
    '',
  ].join('\n')
}

function draw(chart: LineChart): string {
  const { title, xLabel, lines, isLogarithmic = false } = chart
  const points = lines.flatMap((line) => line.points)
  const widest = Math.max(...points.map(([x]) => x))
  const most = chart.most ?? niceCeiling(Math.max(1, ...points.map(([, y]) => y)), isLogarithmic)
  const part = (y: number): number =>
    isLogarithmic ? Math.log10(Math.max(y, 1)) / Math.log10(most) : Math.min(y / most, 1)
  const place = ([x, y]: readonly [number, number]): string =>
    `${(PLOT.left + (x / widest) * PLOT.width).toFixed(1)},${(PLOT.top + PLOT.height * (1 - part(y))).toFixed(1)}`
  const ticks = isLogarithmic
    ? Array.from({ length: Math.round(Math.log10(most)) + 1 }, (_, power) => 10 ** power)
    : [0, most / 4, most / 2, (3 * most) / 4, most]
  const bottom = PLOT.top + PLOT.height
  return [
    `<text class="title" x="12" y="20">${title}</text>`,
    ...ticks.map((tick) => {
      const y = (bottom - PLOT.height * part(tick)).toFixed(1)
      const label = `<text x="${PLOT.left - 8}" y="${Number(y) + 4}" text-anchor="end">${tick.toLocaleString('en')}</text>`
      return `<line class="grid" x1="${PLOT.left}" x2="${PLOT.left + PLOT.width}" y1="${y}" y2="${y}"/>${label}`
    }),
    ...[0, 0.25, 0.5, 0.75, 1].map(
      (at) =>
        `<text x="${PLOT.left + at * PLOT.width}" y="${bottom + 18}" text-anchor="middle">${Math.round(at * widest)}</text>`,
    ),
    `<text x="${PLOT.left + PLOT.width / 2}" y="${bottom + 36}" text-anchor="middle">${xLabel}</text>`,
    `<path class="axis" d="M${PLOT.left},${PLOT.top} V${bottom} H${PLOT.left + PLOT.width}"/>`,
    ...lines.map(({ label, points: own }, index) => {
      const colour = COLOURS[index % COLOURS.length]
      const y = PLOT.top + 10 + index * 20
      const x = PLOT.left + PLOT.width + 16
      return [
        `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${own.map(place).join(' ')}"/>`,
        `<line x1="${x}" x2="${x + 18}" y1="${y}" y2="${y}" stroke="${colour}" stroke-width="2"/>`,
        `<text x="${x + 24}" y="${y + 4}">${label}</text>`,
      ].join('\n')
    }),
  ].join('\n')
}

/** A round number that is not smaller. */
function niceCeiling(value: number, isLogarithmic: boolean): number {
  const power = 10 ** Math.ceil(Math.log10(value))
  if (isLogarithmic) return power
  return [power / 5, (2 * power) / 5, power / 2, power].find((nice) => nice >= value) ?? power
}
