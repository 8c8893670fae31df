import type { History } from '../history/history.js'
import type { Operation, Read, Write } from '../history/operation.js'
import { byName } from './by-name.js'
import { type Called, isRegisterCall, type RegisterCall } from './register/register-call.js'
import type { Violation } from './report.js'
import { processOf } from './seen-grant.js'

export interface LostWrites {
  readonly violations: Violation[]
  /** See `Figures`. */
  readonly overwrittenUnseen: number
}

/**
 * Each holder writes the number after the last that it has read: an acknowledged write has a larger number than all that were
 * acknowledged before, and no later read returns a smaller one.
 *
 * A guard that sees only the tokens of writes leaves one gap, which is no violation: a write replaces another that was
 * acknowledged after the holder had read, such as the last one of a former holder. The numbers go on from the later write then.
 */
export function checkLostWrites({ operations }: History): LostWrites {
  const violations: Violation[] = []
  let overwrittenUnseen = 0
  for (const [name, calls] of byName(operations.filter(isRegisterCall))) {
    const numbers = new Numbers(name, calls)
    numbers.run()
    violations.push(...numbers.violations)
    overwrittenUnseen += numbers.overwrittenUnseen
  }
  return { violations, overwrittenUnseen }
}

type Wrote = Called<Write>

/** The numbers in one register. */
class Numbers {
  readonly violations: Violation[] = []
  overwrittenUnseen = 0
  readonly #name: string
  readonly #calls: readonly RegisterCall[]
  readonly #writes = new Map<string, Wrote>()
  readonly #reads = new Map<string, Called<Read>[]>()
  /** Acknowledged, in the order of the numbers, as far as they were not replaced unseen. */
  readonly #acknowledged: Wrote[] = []

  constructor(name: string, calls: readonly RegisterCall[]) {
    this.#name = name
    this.#calls = calls
    for (const call of calls) {
      if (call.call === 'write') this.#writes.set(call.value, call)
      else if (call.outcome === 'read') this.#readsOf(call).push(call)
    }
  }

  /** Looks at each call when it has settled. */
  run(): void {
    const settled = this.#calls.filter(({ outcome }) => outcome === 'accepted' || outcome === 'read')
    for (const call of settled.toSorted((left, right) => left.to - right.to)) {
      if (call.call === 'write') this.#acknowledge(call)
      else this.#see(call)
    }
  }

  #acknowledge(write: Wrote): void {
    const notSmaller = this.#acknowledgedFrom(write.count)
    const replaced = notSmaller.filter(({ to }) => to < write.from)
    const same = notSmaller.filter(({ count, to }) => count === write.count && to >= write.from)
    const lost = replaced.find((earlier) => !this.#mayReplace(write, earlier))
    const twice = same.find((earlier) => !this.#mayReplace(write, earlier) && !this.#mayReplace(earlier, write))
    if (lost !== undefined) this.#report(lost, write, `was written after ${lost.count} had been acknowledged`)
    else if (twice !== undefined) this.#report(twice, write, 'was acknowledged for two values')
    this.#replace([...replaced, ...same])
    this.#acknowledged.splice(this.#acknowledged.length - this.#acknowledgedFrom(write.count + 1).length, 0, write)
  }

  #see(read: Called<Read>): void {
    const number = read.count ?? 0
    const missed = this.#acknowledgedFrom(number + 1).filter(({ to }) => to < read.from)
    if (missed.length === 0) return
    const written = read.value === undefined ? undefined : this.#writes.get(read.value)
    const lost = missed.find((earlier) => written === undefined || !this.#mayReplace(written, earlier))
    if (lost !== undefined) this.#report(lost, read, `was read after ${lost.count} had been acknowledged`)
    this.#replace(missed)
  }

  /** Whether this write can come after the other, and its holder did not know of the other when it read. */
  #mayReplace(write: Wrote, other: Wrote): boolean {
    const mayComeAfter = write.token >= other.token && (write.outcome === 'unknown' || write.to > other.from)
    const base = this.#readBefore(write)
    return mayComeAfter && base !== undefined && base.from < other.to
  }

  /** The read that the number of this write was counted from. */
  #readBefore(write: Wrote): Called<Read> | undefined {
    return this.#readsOf(write).findLast(({ count = 0, to }) => count === write.count - 1 && to <= write.from)
  }

  #readsOf({ client, life }: RegisterCall): Called<Read>[] {
    const key = processOf({ client, life })
    const reads = this.#reads.get(key) ?? []
    this.#reads.set(key, reads)
    return reads
  }

  /** Those with this number and larger ones: a few at the end. */
  #acknowledgedFrom(count: number): readonly Wrote[] {
    const smaller = this.#acknowledged.findLastIndex((write) => write.count < count)
    return this.#acknowledged.slice(smaller + 1)
  }

  #replace(writes: readonly Wrote[]): void {
    this.overwrittenUnseen += writes.length
    for (const write of writes) this.#acknowledged.splice(this.#acknowledged.lastIndexOf(write), 1)
  }

  #report(earlier: Wrote, later: Operation & RegisterCall, happened: string): void {
    this.violations.push({
      check: 'lost-write',
      name: this.#name,
      at: later.to,
      message: `the number ${later.count ?? 0} of client ${later.client} ${happened} to client ${earlier.client}`,
      operations: [earlier, later],
    })
  }
}
