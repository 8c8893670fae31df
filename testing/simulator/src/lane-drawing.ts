const LEFT = 80
const WIDTH = 1_000
const LANE = 46
const TOP = 40

/** What a bar or a mark stands for. */
export const colours = {
  held: '#2e9e5b',
  paused: '#b0b0b0',
  crashed: '#444444',
  network: '#d9822b',
  violation: '#d0342c',
} as const

export interface Bar {
  readonly from: number
  readonly to: number
  readonly colour: string
  readonly title: string
}

export interface LaneDrawingOptions {
  readonly title: string
  readonly lanes: readonly string[]
  /** The start and end of the drawing. Events before and after are left out. */
  readonly from: number
  readonly to: number
}

/** A drawing of a part of a run: time goes to the right, and everyone who acts has a lane. */
export class LaneDrawing {
  readonly #options: LaneDrawingOptions
  readonly #height: number
  readonly #parts: string[]

  constructor(options: LaneDrawingOptions) {
    this.#options = options
    this.#height = TOP + options.lanes.length * LANE + 30
    this.#parts = options.lanes.map((title, lane) => text(8, TOP + lane * LANE + 26, title))
    this.#parts.push(drawLegend())
  }

  /** For example the time in which a lease is held. */
  bar(lane: number, bar: Bar): void {
    this.#rectangle(lane, bar, 14, 18)
  }

  /** Above the bars of the lane: a fault. */
  thinBar(lane: number, bar: Bar): void {
    this.#rectangle(lane, bar, 4, 8)
  }

  /** Below the bars of the lane: a call. */
  lowBar(lane: number, bar: Bar): void {
    this.#rectangle(lane, bar, 34, 6)
  }

  mark(lane: number, at: number, colour: string, title: string): void {
    if (!this.#isShown(at, at)) return
    const y = TOP + lane * LANE + 22
    this.#parts.push(
      `<circle cx="${this.#x(at)}" cy="${y}" r="4" fill="${colour}"><title>${escaped(title)}</title></circle>`,
    )
  }

  /** Through all lanes, with a sentence below. */
  violation(at: number, message: string): void {
    const x = this.#x(at)
    const height = this.#height
    this.#parts.push(
      `<line x1="${x}" y1="${TOP - 20}" x2="${x}" y2="${height - 25}" stroke="${colours.violation}" stroke-width="2"/>`,
      text(LEFT, height - 8, message),
    )
  }

  toString(): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${LEFT + WIDTH + 20}" height="${this.#height}" ` +
      `font-family="sans-serif" font-size="12">${text(8, 18, this.#options.title)}${this.#parts.join('')}</svg>\n`
    )
  }

  #rectangle(lane: number, { from, to, colour, title }: Bar, top: number, height: number): void {
    if (!this.#isShown(from, to)) return
    const x = this.#x(from)
    const width = Math.max(this.#x(to) - x, 2)
    this.#parts.push(
      `<rect x="${x}" y="${TOP + lane * LANE + top}" width="${width}" height="${height}" fill="${colour}">` +
        `<title>${escaped(title)}</title></rect>`,
    )
  }

  #isShown(from: number, to: number): boolean {
    return to >= this.#options.from && from <= this.#options.to
  }

  #x(at: number): number {
    const { from, to } = this.#options
    return LEFT + ((Math.min(Math.max(at, from), to) - from) / (to - from)) * WIDTH
  }
}

function drawLegend(): string {
  const entries = Object.entries(colours).map(([title, colour], place) => {
    const x = LEFT + WIDTH - 90 * (Object.keys(colours).length - place)
    return `<rect x="${x}" y="8" width="12" height="12" fill="${colour}"/>${text(x + 18, 18, title)}`
  })
  return entries.join('')
}

function text(x: number, y: number, content: string): string {
  return `<text x="${x}" y="${y}">${escaped(content)}</text>`
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
