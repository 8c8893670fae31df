import { Child } from '../../support/child.js'
import { type Counts, type Holder, type HolderTask, openHolder, type Span } from './holder.js'

const program = new URL('holder.ts', import.meta.url).href

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
  readonly holders: readonly Child<Holder>[]

  private constructor(holders: readonly Child<Holder>[]) {
    this.holders = holders
  }

  /** Resolves when all of them answer. */
  static async start(task: HolderTask, processes: number, packages?: string): Promise<Fleet> {
    const start = (): Promise<Child<Holder>> =>
      Child.start(program, openHolder, task, packages === undefined ? {} : { packages })
    return new Fleet(await Promise.all(Array.from({ length: processes }, start)))
  }

  /** The answers of all of them, in their order. */
  all<R>(ask: (holder: Child<Holder>) => Promise<R>): Promise<readonly R[]> {
    return Promise.all(this.holders.map(ask))
  }

  /** Divides the leases among the processes, which acquire them. */
  async hold(span: Span): Promise<void> {
    const parts = divide(span, this.holders.length)
    await Promise.all(this.holders.map((holder, place) => holder.ask('hold', parts[place] ?? { first: 0, count: 0 })))
  }

  async counts(): Promise<Counts> {
    const all = await this.all((holder) => holder.ask('count'))
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
