import { AsyncLocalStorage } from 'node:async_hooks'
import { ioredis } from './redis-client.js'

/**
 * Counts what the clients of this process send: the counters of the server (Redis 7.0) include what scripts call, so
 * that it cannot tell. A script counts as one command here.
 */
export class SentCommands {
  readonly #callers = new AsyncLocalStorage<() => void>()
  #count = 0
  #answered = 0

  constructor() {
    const { prototype } = ioredis().Redis
    const send = prototype.sendCommand
    const record = (command: { readonly promise: Promise<unknown> }): void => {
      this.#count += 1
      const answered = this.#callers.getStore()
      const onAnswer = (): void => {
        this.#answered += 1
        answered?.()
      }
      command.promise.then(onAnswer, onAnswer)
    }
    prototype.sendCommand = function (command, ...rest) {
      record(command)
      return send.call(this, command, ...rest)
    }
  }

  get count(): number {
    return this.#count
  }

  /** How many of them have been answered, or have failed. */
  get answered(): number {
    return this.#answered
  }

  /** Starts what sends commands, and resolves when the first of them has been answered; or after `limit`. */
  async untilAnswered(start: () => void, limit: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limit)
      this.#callers.run(() => {
        clearTimeout(timer)
        resolve()
      }, start)
    })
  }

  /** Ends the following of callers, which costs something at every promise; counting goes on. */
  stopFollowing(): void {
    this.#callers.disable()
  }
}
