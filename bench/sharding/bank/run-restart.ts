import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerKind } from '../access.js'
import { Bank, type BankOptions } from './bank.js'
import type { BankReport } from './run-bank.js'

/** How long the bank works between two restarts, in milliseconds. */
const PAUSE = 1_000

/** A rolling restart under load, round after round: no acknowledged change may be lost. */
export async function runRestart(kind: ServerKind, options: BankOptions): Promise<BankReport> {
  const bank = await Bank.open(kind, options)
  try {
    for (const member of bank.members) member.begin()
    const end = performance.now() + options.seconds * 1_000
    const stops: number[] = []
    do {
      for (const member of bank.members) {
        await sleep(PAUSE)
        const begun = performance.now()
        await member.stop()
        stops.push(performance.now() - begun)
        await member.start()
        member.begin()
        await bank.settled()
      }
    } while (performance.now() < end)
    const { lines, failures } = await bank.audit()
    const longest = Math.round(Math.max(...stops))
    return { lines: [`${kind}: ${stops.length} restarts; the longest stop took ${longest} ms`, ...lines], failures }
  } finally {
    await bank.close()
  }
}
