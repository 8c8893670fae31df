import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { LayoutName } from '../../src/kubernetes-options.js'
import { ELECTION, Elector } from './election.js'
import { kubeConfigFor } from './kube-config-for.js'

/** Ten of them in a row nothing happens. */
const IDLE = 10 * ELECTION.heartbeatTimeout

/** Where the electors meet. */
export interface ElectionPlace {
  readonly port: number
  readonly ca?: string
  readonly layout: LayoutName
  /** The token of each elector. */
  readonly tokenOf: (elector: string) => string
}

/**
 * Two electors through ten idle durations, a crash and a graceful stop. `whileIdle` is called when the idle time begins,
 * and what it returns when it ends.
 */
export async function elect(place: ElectionPlace, whileIdle: () => () => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-kubernetes-'))
  const electors: Elector[] = []
  const start = async (owner: string): Promise<Elector> => {
    const file = join(folder, owner)
    writeFileSync(file, (await kubeConfigFor(place.port, place.tokenOf(owner), place.ca)).exportConfig())
    const elector = new Elector(file, place.layout, owner)
    electors.push(elector)
    await elector.tells('waiting')
    return elector
  }
  try {
    const first = await start('first')
    const { token: firstToken } = await first.tells('granted')
    const second = await start('second')
    await sleep(ELECTION.heartbeatTimeout)
    const endIdle = whileIdle()
    await sleep(IDLE)
    endIdle()
    expect(first.told.map(({ event }) => event)).toEqual(['waiting', 'granted'])
    expect(second.told.map(({ event }) => event)).toEqual(['waiting'])

    const crashedAt = await first.end('SIGKILL')
    const taken = await second.tells('granted')
    expect(BigInt(taken.token ?? 0)).toBeGreaterThan(BigInt(firstToken ?? 0))
    // One retry period is a heartbeat interval.
    expect(taken.at - crashedAt).toBeLessThan(ELECTION.heartbeatTimeout + ELECTION.heartbeatInterval)

    const third = await start('third')
    await sleep(ELECTION.heartbeatInterval)
    const stopped = second.end('SIGTERM')
    const handedOver = await third.tells('granted')
    expect(handedOver.at - (await stopped)).toBeLessThan(ELECTION.heartbeatInterval)
    expect(BigInt(handedOver.token ?? 0)).toBeGreaterThan(BigInt(taken.token ?? 0))
  } finally {
    for (const elector of electors) await elector.end('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}
