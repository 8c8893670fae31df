const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** A reason to stop the demo early: a signal from the user, or an output whose reader has closed it (`| head`). */
export class Interruption {
  readonly #controller = new AbortController()
  #exitCode: number | undefined

  constructor(out: NodeJS.WriteStream) {
    for (const signal of Object.keys(EXIT_CODES)) process.on(signal, this.#onSignal)
    out.on('error', this.#onOutputClosed)
  }

  /** Aborted at the first interruption. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The exit code of the interruption; `undefined` if there was none. */
  get exitCode(): number | undefined {
    return this.#exitCode
  }

  close(): void {
    for (const signal of Object.keys(EXIT_CODES)) process.off(signal, this.#onSignal)
    // The listener for the output stays: buffered output can still fail, and an error without a listener ends the process.
  }

  readonly #onSignal = (signal: keyof typeof EXIT_CODES): void => this.#stop(EXIT_CODES[signal])

  readonly #onOutputClosed = (): void => this.#stop(0)

  #stop(exitCode: number): void {
    this.#exitCode ??= exitCode
    this.#controller.abort()
  }
}
