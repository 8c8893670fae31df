import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { ClientMessage, GivenGrant } from '../client/client-message.js'
import type { ClientSettings } from '../client/client-settings.js'

/** A client of a run, in one process after the other. */
export class ClientProcess {
  readonly number: number
  readonly #program: string
  readonly #log: string
  readonly #settingsOf: (life: number) => ClientSettings
  readonly #onGiven: (given: GivenGrant) => void
  #life = 0
  #child: ChildProcess | undefined
  #isKilled = false
  /** How its processes ended by themselves, other than well. */
  readonly failures: string[] = []

  constructor(options: {
    readonly number: number
    readonly program: string
    readonly log: string
    readonly settingsOf: (life: number) => ClientSettings
    readonly onGiven: (given: GivenGrant) => void
  }) {
    this.number = options.number
    this.#program = options.program
    this.#log = options.log
    this.#settingsOf = options.settingsOf
    this.#onGiven = options.onGiven
  }

  start(): void {
    this.#life += 1
    this.#isKilled = false
    const output = openSync(this.#log, 'a')
    const settings = this.#settingsOf(this.#life)
    const child = spawn(process.execPath, [this.#program, JSON.stringify(settings)], {
      stdio: ['ignore', output, output, 'ipc'],
    })
    closeSync(output)
    this.#child = child
    child.on('message', (given: GivenGrant) => this.#onGiven(given))
    // A process that is ended while it is sent something.
    child.on('error', () => {})
    child.once('exit', (code, signal) => {
      if (this.#isKilled || code === 0) return
      this.failures.push(`client ${this.number} ended with ${signal ?? `code ${code}`}: ${this.#lastOutput()}`)
    })
  }

  send(message: ClientMessage): void {
    if (this.#child?.connected) this.#child.send(message, () => {})
  }

  freeze(): void {
    this.#child?.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child?.kill('SIGCONT')
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    this.#isKilled = true
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  /** Resolves when it has ended, by itself within this time or by force. */
  async ended(limit: number): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    await Promise.race([once(child, 'exit'), pause(limit, undefined, { ref: false })])
    await this.kill()
  }

  #lastOutput(): string {
    return readFileSync(this.#log, 'utf8').slice(-1_500)
  }
}
