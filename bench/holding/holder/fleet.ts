import { buildProgram } from '../../heartbeat-thread/build-program.js'
import { HolderProcess } from './holder-process.js'
import type { Counts, HolderTask, Orders, Span } from './orders.js'

/** Divides leases into parts whose sizes differ by one at most. */
export function divide({ first, count }: Span, parts: number): readonly Span[] {
  const starts = Array.from({ length: parts + 1 }, (_, part) => Math.floor((count * part) / parts))
  return starts.slice(1).map((end, part) => {
    const start = starts[part] ?? 0
    return { first: first + start, count: end - start }
  })
}

/** Several processes that hold leases on one server. */
export class Fleet {
  readonly holders: readonly HolderProcess[]

  private constructor(holders: readonly HolderProcess[]) {
    this.holders = holders
  }

  /** Resolves when all of them answer. */
  static async start(task: HolderTask, processes: number): Promise<Fleet> {
    const program = await buildProgram(new URL('holder-program.ts', import.meta.url))
    const fleet = new Fleet(Array.from({ length: processes }, () => new HolderProcess(program, task)))
    try {
      await fleet.all('count', {})
      return fleet
    } catch (error) {
      await fleet.stop()
      throw error
    }
  }

  /** Gives all of them the same order; their answers in their order. */
  all<O extends keyof Orders>(order: O, of: Orders[O]['of']): Promise<readonly Orders[O]['answer'][]> {
    return Promise.all(this.holders.map((holder) => holder.ask(order, of)))
  }

  /** Divides the leases among the processes, which acquire them. */
  async hold(span: Span): Promise<void> {
    const parts = divide(span, this.holders.length)
    await Promise.all(this.holders.map((holder, place) => holder.ask('hold', parts[place] ?? { first: 0, count: 0 })))
  }

  async counts(): Promise<Counts> {
    const all = await this.all('count', {})
    return {
      held: all.reduce((sum, { held }) => sum + held, 0),
      lost: all.reduce((sum, { lost }) => sum + lost, 0),
      failures: all.reduce((sum, { failures }) => sum + failures, 0),
    }
  }

  /** The fleet without its first process, which has ended. */
  withoutFirst(): Fleet {
    return new Fleet(this.holders.slice(1))
  }

  async stop(): Promise<void> {
    await Promise.all(this.holders.map((holder) => holder.kill()))
  }
}
