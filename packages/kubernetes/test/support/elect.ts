import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { Election, type ElectionPlace } from './election.js'
import type { ElectorProcess } from './elector-process.js'

/** The settings of the electors, in milliseconds. */
const TIMES = { heartbeatTimeout: 7_000, heartbeatInterval: 1_500, operationTimeout: 2_000 }

/** Ten of them in a row nothing happens. */
const IDLE = 10 * TIMES.heartbeatTimeout

type Place = Pick<ElectionPlace, 'port' | 'ca' | 'layout'> & {
  /** The token of each elector. */
  readonly tokenOf: (elector: string) => string
}

/**
 * Two electors through ten idle durations, a crash and a graceful stop. `whileIdle` is called when the idle time begins,
 * and what it returns when it ends.
 */
export async function elect({ tokenOf, ...place }: Place, whileIdle: () => () => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-kubernetes-'))
  const election = await Election.at({ ...place, name: 'election', times: TIMES }, folder)
  const electors: ElectorProcess[] = []
  const start = async (owner: string): Promise<ElectorProcess> => {
    const elector = await election.start(owner, tokenOf(owner))
    electors.push(elector)
    await elector.tells('waiting')
    return elector
  }
  try {
    const first = await start('first')
    const { token: firstToken } = await first.tells('started')
    const second = await start('second')
    await sleep(TIMES.heartbeatTimeout)
    const endIdle = whileIdle()
    await sleep(IDLE)
    endIdle()
    expect(first.told.map(({ event }) => event)).toEqual(['waiting', 'started'])
    expect(second.told.map(({ event }) => event)).toEqual(['waiting'])

    const crashedAt = await first.end('SIGKILL')
    const taken = await second.tells('started')
    expect(BigInt(taken.token ?? 0)).toBeGreaterThan(BigInt(firstToken ?? 0))
    // One retry period is a heartbeat interval.
    expect(taken.at - crashedAt).toBeLessThan(TIMES.heartbeatTimeout + TIMES.heartbeatInterval)

    const third = await start('third')
    await sleep(TIMES.heartbeatInterval)
    const stopped = second.end('SIGTERM')
    const handedOver = await third.tells('started')
    expect(handedOver.at - (await stopped)).toBeLessThan(TIMES.heartbeatInterval)
    expect(BigInt(handedOver.token ?? 0)).toBeGreaterThan(BigInt(taken.token ?? 0))
  } finally {
    for (const elector of electors) await elector.end('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}
