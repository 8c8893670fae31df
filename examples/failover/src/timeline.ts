import type { Fleet, WorkerProcess } from './fleet.js'

const WIDTH = 20

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
    this.#out.write(`${seconds} s  ${text}\n`)
  }

  /** Draws the current state over the previous drawing. */
  draw(): void {
    if (!this.#out.isTTY) return
    this.#erase()
    const lines = this.#fleet.workers.map((worker) => lineOf(worker, this.#ttl))
    this.#out.write(`${lines.join('\n')}\n`)
    this.#drawn = lines.length
  }

  /** If the output is not a terminal, prints the current state as one line. */
  logStatus(): void {
    if (this.#out.isTTY) return
    this.log(this.#fleet.workers.map((worker) => briefOf(worker)).join('   '))
  }

  #erase(): void {
    if (this.#drawn > 0) this.#out.write(`\u001b[${this.#drawn}A\u001b[J`)
    this.#drawn = 0
  }
}

function lineOf({ name, condition, status }: WorkerProcess, ttl: number): string {
  if (condition !== 'running' || status === undefined) return `  ${name.padEnd(6)} ${condition}`
  const { state, token, remaining, stashed, written } = status
  if (state === 'acquiringLease') return `  ${name.padEnd(6)} waits    ${String(stashed).padStart(4)} stashed`
  const bar = '█'.repeat(Math.round((WIDTH * Math.min(remaining, ttl)) / ttl)).padEnd(WIDTH, '░')
  const left = `${(remaining / 1_000).toFixed(1)} s valid`
  return `  ${name.padEnd(6)} HOLDS    ${bar} ${left}   token ${token}   ${written} written`
}

function briefOf({ name, condition, status }: WorkerProcess): string {
  if (condition !== 'running' || status === undefined) return `${name}: ${condition}`
  if (status.state === 'acquiringLease') return `${name}: waits, ${status.stashed} stashed`
  return `${name}: HOLDS, ${(status.remaining / 1_000).toFixed(1)} s valid, ${status.written} written`
}
