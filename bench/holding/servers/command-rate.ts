import { setTimeout as pause } from 'node:timers/promises'
import type { StoreServer } from './store-server.js'

/** Commands a second at a server. */
export interface Rate {
  readonly mean: number
  /** The second with the most. */
  readonly busiest: number
}

/** Reads the counter of a server once a second. */
export class CommandRate {
  readonly #server: StoreServer
  readonly #rates: number[] = []
  readonly #end = new AbortController()
  readonly #reading: Promise<void>

  constructor(server: StoreServer) {
    this.#server = server
    this.#reading = this.#readOn()
  }

  /** Resolves with what was counted since the start. */
  async stop(): Promise<Rate> {
    this.#end.abort()
    await this.#reading
    const rates = this.#rates
    const mean = rates.reduce((sum, rate) => sum + rate, 0) / Math.max(rates.length, 1)
    return { mean, busiest: rates.reduce((most, rate) => Math.max(most, rate), 0) }
  }

  async #readOn(): Promise<void> {
    const { signal } = this.#end
    let before = await this.#server.read()
    while (!signal.aborted) {
      await pause(1_000, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      const now = await this.#server.read()
      // A reading that comes late covers more than a second.
      this.#rates.push(((now.commands - before.commands) / (now.at - before.at)) * 1_000)
      before = now
    }
  }
}
