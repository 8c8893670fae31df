import type { Fleet, WorkerProcess } from './fleet.js'
import { coloured, columnsOf, fitting, wrapped } from './terminal-text.js'

const BAR = 20

/** Shows the state of all workers: redrawn in place on a terminal, line by line otherwise. */
export class Timeline {
  readonly #fleet: Fleet
  readonly #out: NodeJS.WriteStream
  readonly #start: number
  /** The validity shown by a full bar. */
  readonly #ttl: number
  readonly #now: () => number
  #drawn = 0

  constructor(fleet: Fleet, out: NodeJS.WriteStream, ttl: number, now: () => number) {
    this.#fleet = fleet
    this.#out = out
    this.#ttl = ttl
    this.#now = now
    this.#start = now()
  }

  /** Prints a permanent line for an event. */
  log(text: string): void {
    this.#erase()
    const seconds = ((this.#now() - this.#start) / 1_000).toFixed(2).padStart(6)
    this.#out.write(`${wrapped(`${seconds} s  `, text, columnsOf(this.#out))}\n`)
  }

  /** Draws the current state over the previous drawing. */
  draw(): void {
    if (!this.#out.isTTY) return
    this.#erase()
    const lines = this.#fleet.workers.map((worker) => this.#lineOf(worker))
    this.#out.write(`${lines.join('\n')}\n`)
    this.#drawn = lines.length
  }

  /** If the output is not a terminal, prints the current state as one line. */
  logStatus(): void {
    if (this.#out.isTTY) return
    this.log(this.#fleet.workers.map((worker) => briefOf(worker)).join('   '))
  }

  /** Fits into one line of the terminal: `#erase` counts lines. */
  #lineOf({ name, condition, status }: WorkerProcess): string {
    const label = `  ${name.padEnd(6)} `
    if (condition !== 'running') return coloured(this.#out, 'red', `${label}${condition}`)
    if (status === undefined) return coloured(this.#out, 'dim', `${label}starts`)
    const { state, token, remaining, stashed, written } = status
    if (state === 'acquiringLease') {
      return coloured(this.#out, 'dim', `${label}waits    ${String(stashed).padStart(4)} stashed`)
    }
    const filled = Math.round((BAR * Math.min(remaining, this.#ttl)) / this.#ttl)
    const bar = '█'.repeat(filled).padEnd(BAR, '░')
    const validity = `${(remaining / 1_000).toFixed(1)} s valid`
    const parts = [`${label}HOLDS    ${bar} ${validity}`, `   ${written} written`, `   token ${token}`]
    return coloured(this.#out, 'green', fitting(parts, columnsOf(this.#out)))
  }

  #erase(): void {
    if (this.#drawn > 0) this.#out.write(`\u001b[${this.#drawn}A\u001b[J`)
    this.#drawn = 0
  }
}

function briefOf({ name, condition, status }: WorkerProcess): string {
  if (condition !== 'running') return `${name}: ${condition}`
  if (status === undefined) return `${name}: starts`
  if (status.state === 'acquiringLease') return `${name}: waits, ${status.stashed} stashed`
  return `${name}: HOLDS, ${(status.remaining / 1_000).toFixed(1)} s valid, ${status.written} written`
}
