import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { systemClock } from '@leasehold/core'
import type { LayoutName } from '../../src/kubernetes-options.js'

/** The settings of an election, in milliseconds. */
export const ELECTION = { heartbeatTimeout: 7_000, heartbeatInterval: 1_500, operationTimeout: 2_000 }

const FILE = new URL('./elector.ts', import.meta.url).pathname

interface Told {
  readonly event: 'waiting' | 'granted' | 'lost'
  readonly at: number
  readonly token?: string
}

/** A process of its own that waits for the lease, and holds it until it is ended. */
export class Elector {
  readonly told: Told[] = []
  readonly #process: ChildProcess
  readonly #exited: Promise<unknown>
  #wake: (() => void)[] = []

  constructor(kubeconfigFile: string, layout: LayoutName, owner: string) {
    const args = ['--import', 'tsx', '--conditions', '@leasehold/source', FILE, kubeconfigFile, layout, owner]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#process = child
    this.#exited = new Promise((resolve) => child.once('exit', resolve))
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.told.push({ ...JSON.parse(line), at: systemClock.now() })
      for (const wake of this.#wake.splice(0)) wake()
    })
  }

  async tells(event: Told['event']): Promise<Told> {
    for (;;) {
      const told = this.told.find((line) => line.event === event)
      if (told !== undefined) return told
      await new Promise<void>((resolve) => this.#wake.push(resolve))
    }
  }

  /** Resolves, when the process is gone, with the instant at which the signal was sent. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number> {
    const at = systemClock.now()
    this.#process.kill(signal)
    await this.#exited
    return at
  }
}
