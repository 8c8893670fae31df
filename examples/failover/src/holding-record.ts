import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { StoreLease } from '@leasehold/core'
import { machineNow } from './machine-clock.js'
import { textOf } from './text-of.js'

/** One call of `checkLease()`, with the machine's clock before and after the call. */
interface Look {
  readonly before: number
  readonly after: number
  readonly held: boolean
  readonly token: string
  /** Remaining validity, in milliseconds. */
  readonly remaining: number
}

/** A time span in which one process held the lease: from the first to the last of consecutive looks with `held`. */
export interface Holding {
  readonly holder: string
  readonly token: string
  readonly from: number
  readonly to: number
  /** The end of validity as of the last look. */
  readonly validUntil: number
  readonly looks: number
}

/** Writes every look to a file at once, so that looks right before a SIGKILL are on disk. */
export class HoldingRecord {
  readonly #lease: StoreLease
  readonly #file: number
  #wasHeld = false

  constructor(folder: string, holder: string, lease: StoreLease) {
    this.#lease = lease
    this.#file = openSync(fileIn(folder, holder), 'a')
  }

  /** Calls `checkLease()` and records the result. Of consecutive looks without the lease, only the first is recorded. */
  look(): boolean {
    const before = machineNow()
    const held = this.#lease.checkLease()
    const after = machineNow()
    if (held || this.#wasHeld) {
      const { fencingToken = 0n, remaining } = this.#lease
      writeSync(this.#file, `${before} ${after} ${held ? 1 : 0} ${fencingToken} ${remaining}\n`)
    }
    this.#wasHeld = held
    return held
  }
}

/** Reads the spans in which a process held the lease from its record. */
export function readHoldings(folder: string, holder: string): readonly Holding[] {
  const looks = textOf(fileIn(folder, holder)).split('\n').filter(Boolean).map(toLook)
  const holdings: Holding[] = []
  let current: Holding | undefined
  for (const { before, after, held, token, remaining } of looks) {
    const goesOn: boolean = held && current?.token === token
    if (current !== undefined && !goesOn) holdings.push(current)
    if (!held) current = undefined
    else {
      const { from, looks: count } = current !== undefined && goesOn ? current : { from: before, looks: 0 }
      current = { holder, token, from, to: after, validUntil: after + remaining, looks: count + 1 }
    }
  }
  return current === undefined ? holdings : [...holdings, current]
}

function toLook(line: string): Look {
  const [before, after, held, token = '', remaining] = line.split(' ')
  return { before: Number(before), after: Number(after), held: held === '1', token, remaining: Number(remaining) }
}

function fileIn(folder: string, holder: string): string {
  return join(folder, `holdings-${holder}.txt`)
}
