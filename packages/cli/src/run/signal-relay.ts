/** Signals that end `leasehold` while no command runs. */
const ending: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
const others: readonly NodeJS.Signals[] = ['SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT']

/** The command that runs. */
interface SignalTarget {
  forward(signal: NodeJS.Signals): void
}

/**
 * The signals that `leasehold` gets. While a command runs, they go to the command. Before and after it, the first signal
 * that ends a program ends the wait, and the second one ends `leasehold` itself.
 */
export class SignalRelay {
  readonly #stop = new AbortController()
  readonly #installed: [NodeJS.Signals, () => void][] = []
  #target: SignalTarget | undefined
  #received: NodeJS.Signals | undefined
  /** How many signals that end a program came while no command ran. */
  #unforwarded = 0

  constructor(stopsWithTerminal: boolean) {
    for (const signal of ending) this.#install(signal, () => this.#onEnding(signal))
    for (const signal of others) this.#install(signal, () => this.#target?.forward(signal))
    // With a terminal, the system stops the whole job, leasehold too. Elsewhere the command is stopped first.
    if (!stopsWithTerminal) {
      this.#install('SIGTSTP', () => {
        this.#target?.forward('SIGTSTP')
        process.kill(process.pid, 'SIGSTOP')
      })
    }
  }

  /** Aborted by the first signal that ends a program. */
  get stop(): AbortSignal {
    return this.#stop.signal
  }

  /** The last signal that should end the program. */
  get received(): NodeJS.Signals | undefined {
    return this.#received
  }

  /** From now on the signals are for this target; `undefined`: no command runs. */
  direct(target: SignalTarget | undefined): void {
    this.#target = target
  }

  /** Restores the default actions of the signals. */
  close(): void {
    for (const [signal, listener] of this.#installed) process.off(signal, listener)
    this.#installed.length = 0
  }

  #install(signal: NodeJS.Signals, listener: () => void): void {
    process.on(signal, listener)
    this.#installed.push([signal, listener])
  }

  #onEnding(signal: NodeJS.Signals): void {
    this.#received = signal
    this.#stop.abort()
    if (this.#target !== undefined) {
      this.#target.forward(signal)
      return
    }
    // Signals that went to the command are not counted. A key of a terminal sends its signal to `leasehold` too, which may
    // handle it only after that signal has ended the command.
    this.#unforwarded += 1
    if (this.#unforwarded > 1) endBy(signal, this)
  }
}

/** Ends this process by the signal, so that its parent sees the same as of a program that does not handle it. */
export function endBy(signal: NodeJS.Signals, relay: SignalRelay): void {
  relay.close()
  process.kill(process.pid, signal)
}
