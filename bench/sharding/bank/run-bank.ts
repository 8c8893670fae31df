import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerKind } from '../access.js'
import { Bank, type BankOptions, type Member } from './bank.js'

export interface BankReport {
  readonly lines: readonly string[]
  /** What is broken; empty if all is well. */
  readonly failures: readonly string[]
}

/** How many processes have a fault at a time. */
const FAULTS_AT_ONCE = 2

/** Faults of one process. Each resolves when it is over. */
const faults: Readonly<Record<string, (member: Member, duration: number) => Promise<void>>> = {
  kill: async (member) => {
    await member.kill()
    await member.start()
    member.begin()
  },
  stop: async (member, duration) => {
    member.signal('SIGSTOP')
    await sleep(duration)
    member.signal('SIGCONT')
  },
  'cut from the server': async ({ toServer }, duration) => {
    toServer.blackHole()
    await sleep(duration)
    toServer.reset()
    toServer.heal()
  },
  'connections to the server reset': async ({ toServer }, duration) => {
    toServer.refuse()
    toServer.reset()
    await sleep(duration)
    toServer.heal()
  },
  'cut from the others': async ({ fromPeers }, duration) => {
    fromPeers.blackHole()
    await sleep(duration)
    fromPeers.reset()
    fromPeers.heal()
  },
  'answers to the others lost': async ({ fromPeers }, duration) => {
    fromPeers.dropResponses()
    await sleep(duration / 4)
    fromPeers.reset()
    fromPeers.heal()
  },
}

/** The longest fault, in milliseconds: longer than a lease lasts. */
const LONGEST_FAULT = 9_000

/** Transfers between accounts, while processes are killed, stopped and cut off. The sum of all balances must not change. */
export async function runBank(kind: ServerKind, options: BankOptions): Promise<BankReport> {
  const bank = await Bank.open(kind, options)
  const done: Record<string, number> = {}
  try {
    for (const member of bank.members) member.begin()
    const end = performance.now() + options.seconds * 1_000
    const healthy = [...bank.members]
    const lane = async (): Promise<void> => {
      while (performance.now() < end) {
        await sleep(500 + Math.random() * 1_500)
        const member = healthy.splice(Math.floor(Math.random() * healthy.length), 1)[0]
        if (member === undefined) continue
        const names = Object.keys(faults)
        const name = names[Math.floor(Math.random() * names.length)] ?? 'kill'
        await faults[name]?.(member, 200 + Math.random() * LONGEST_FAULT)
        done[name] = (done[name] ?? 0) + 1
        healthy.push(member)
      }
    }
    await Promise.all(Array.from({ length: FAULTS_AT_ONCE }, lane))
    await bank.settled()
    const { lines, failures } = await bank.audit()
    const faultLine = Object.entries(done)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')
    return { lines: [`${kind}, ${options.seconds} s: ${faultLine}`, ...lines], failures }
  } finally {
    await bank.close()
  }
}
