import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { HolderTask, Orders } from './orders.js'

/** A process that holds leases, as its parent sees it. */
export class HolderProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  readonly #asked = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>()
  #lastId = 0

  constructor(program: string, task: HolderTask) {
    this.#child = fork(program, [JSON.stringify(task)], { execArgv: ['--expose-gc'] })
    this.#exited = once(this.#child, 'exit')
    this.#child.on('message', (message) => this.#onMessage(message as { id: number; answer?: unknown; error?: string }))
    this.#child.once('exit', (code, signal) => {
      for (const { reject } of this.#asked.values()) reject(new Error(`a holder ended early: ${signal ?? code}`))
    })
  }

  /** Resolves with the answer; rejects if the order fails, or if the process ends. */
  ask<O extends keyof Orders>(order: O, of: Orders[O]['of']): Promise<Orders[O]['answer']> {
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve: (answer) => resolve(answer as Orders[O]['answer']), reject })
      this.#child.send({ id, order, of })
    })
  }

  /** Ends it with SIGKILL; resolves when it has exited. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }

  #onMessage({ id, answer, error }: { id: number; answer?: unknown; error?: string }): void {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    if (error === undefined) asked?.resolve(answer)
    else asked?.reject(new Error(error))
  }
}
