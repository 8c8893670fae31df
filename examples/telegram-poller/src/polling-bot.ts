import type { Update } from './fake-telegram.js'

/** A bot that polls, as those of grammY and Telegraf do: `start` rejects with the error 409. */
export class PollingBot {
  readonly #address: string
  readonly #name: string
  readonly #onUpdate: (update: Update) => void
  readonly #polling = new AbortController()
  #next = 0

  constructor(address: string, name: string, onUpdate: (update: Update) => void) {
    this.#address = address
    this.#name = name
    this.#onUpdate = onUpdate
  }

  /** Polls until `stop` is called. Rejects if the server ends a poll, because another one was sent. */
  async start(): Promise<void> {
    const { signal } = this.#polling
    while (!signal.aborted) {
      const updates = await this.#getUpdates({ signal }).catch((error: Error) => {
        if (signal.aborted) return []
        throw error
      })
      for (const update of updates) {
        this.#onUpdate(update)
        this.#next = update.update_id + 1
      }
    }
  }

  /** Confirms what was handled, so that it does not come again. */
  async stop(): Promise<void> {
    this.#polling.abort()
    await this.#getUpdates({ limit: 1 })
  }

  async #getUpdates({ signal, limit }: { signal?: AbortSignal; limit?: number }): Promise<readonly Update[]> {
    const query = `bot=${this.#name}&offset=${this.#next}${limit === undefined ? '' : `&limit=${limit}`}`
    const response = await fetch(`${this.#address}/getUpdates?${query}`, signal === undefined ? {} : { signal })
    const { ok, result, description } = (await response.json()) as {
      readonly ok: boolean
      readonly result: readonly Update[]
      readonly description?: string
    }
    if (!ok) throw new Error(description)
    return result
  }
}
