/** Turns of the event loop by messages: a timer of a browser would take four milliseconds. */
class Turns {
  readonly #waiting: (() => void)[] = []
  readonly #channel = new MessageChannel()

  constructor() {
    this.#channel.port1.onmessage = () => this.#waiting.shift()?.()
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#channel.port2.postMessage(undefined)
    })
  }
}

const turns = new Turns()

/** Resolves in a later turn of the event loop, when all promise reactions have run. */
export function setImmediate(): Promise<void> {
  return turns.next()
}
