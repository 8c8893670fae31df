import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { machineTime } from '@leasehold/core/store-kit'
import { eventually, temporaryFolder } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { type Fleet, type Holding, violations } from '@leasehold/testing/fleet'
import type { PostgresServer } from '@leasehold/testing/postgres-server'
import type { TcpProxy } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { type Contest, contenders } from '../support/fleet.js'
import { Scene } from '../support/scene.js'

const TIMES = { heartbeatTimeout: 3_000, heartbeatInterval: 500, operationTimeout: 450 }
const NAMES = ['harbour', 'quay']
const PROCESSES = 6
/** Of the faults, in milliseconds. */
const WEATHER = 35_000

/** The processes, each with its own proxy to the server. */
interface Stage {
  readonly server: PostgresServer
  readonly fleet: Fleet<Contest>
  readonly ways: ReadonlyMap<string, TcpProxy>
  contestOf(owner: string): Contest
}

/** Each begins and ends a fault, or leaves it for others to end. */
const faults: Readonly<Record<string, (stage: Stage, owner: string) => Promise<void>>> = {
  'the server is killed': async ({ server }) => {
    await server.kill()
    await sleep(700)
    await server.restart()
  },
  'the server ends in an orderly way': async ({ server }) => {
    await server.shutDown()
    await server.restart()
  },
  'the server is frozen for a while': async ({ server }) => {
    server.freeze()
    await sleep(1_200)
    server.thaw()
  },
  'the server is frozen for longer than the ttl': async ({ server }) => {
    server.freeze()
    await sleep(TIMES.heartbeatTimeout + 500)
    server.thaw()
  },
  'all connections end': async ({ server }) => void (await server.terminateBackends()),
  'a way goes silent': async ({ ways }, owner) => {
    ways.get(owner)?.blackHole()
    await sleep(TIMES.heartbeatTimeout + 500)
    ways.get(owner)?.heal()
  },
  'a way loses the next answer': async ({ ways }, owner) => ways.get(owner)?.dropNextResponse(),
  'a way loses all answers': async ({ ways }, owner) => {
    ways.get(owner)?.dropResponses()
    await sleep(TIMES.heartbeatTimeout)
    ways.get(owner)?.heal()
  },
  'a way is slow': async ({ ways }, owner) => {
    ways.get(owner)?.slowDown(300)
    await sleep(1_000)
    ways.get(owner)?.heal()
  },
  'a process is stopped for longer than the ttl': async ({ fleet }, owner) => {
    fleet.freeze(owner)
    await sleep(TIMES.heartbeatTimeout + 700)
    fleet.thaw(owner)
  },
  'a process is killed': async ({ fleet, contestOf }, owner) => {
    await fleet.kill(owner)
    await fleet.start(contestOf(owner))
  },
}

async function rage(stage: Stage, until: number): Promise<string[]> {
  const happened: string[] = []
  const owners = [...stage.ways.keys()]
  // Every fault once, then again in the same order with other processes.
  for (let round = 0; ; round += 1) {
    for (const [place, [title, befall]] of Object.entries(faults).entries()) {
      const owner = owners[(place + round) % owners.length] ?? ''
      happened.push(`${title} (${owner})`)
      await befall(stage, owner)
      await sleep(200)
    }
    if (systemClock.now() > until) return happened
  }
}

/** Every process has held every name since then. */
function allHaveHeld(
  holdings: readonly Holding[],
  since: number,
  owners: readonly string[],
  names: readonly string[],
): boolean {
  const held = new Set(holdings.filter(({ from }) => from > since).map(({ owner, name }) => `${owner} ${name}`))
  return owners.every((owner) => names.every((name) => held.has(`${owner} ${name}`)))
}

describePostgres('a fleet of processes', () => {
  describe.concurrent('', { timeout: 150_000 }, () => {
    it('in rough weather: never two holders, tokens grow, and everybody holds again afterwards', async (test) => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const fleet = await contenders(temporaryFolder(test))
        scene.atEnd(() => fleet.stop())
        const ways = new Map<string, TcpProxy>()
        for (let place = 0; place < PROCESSES; place += 1) ways.set(`ship-${place}`, await scene.proxy(server))
        const contestOf = (owner: string): Contest => {
          return { port: ways.get(owner)?.port ?? 0, owner, names: NAMES, times: TIMES, work: 40, connections: 2 }
        }
        await Promise.all([...ways.keys()].map((owner) => fleet.start(contestOf(owner))))
        await eventually('all have held', async () => allHaveHeld(fleet.holdings, 0, [...ways.keys()], NAMES))
        const happened = await rage({ server, fleet, ways, contestOf }, systemClock.now() + WEATHER)
        const calm = machineTime()
        await eventually('all hold again', async () => allHaveHeld(fleet.holdings, calm, [...ways.keys()], NAMES))
        await fleet.stop()
        const { holdings } = fleet
        expect(violations(holdings), happened.join('; ')).toEqual([])
        expect(holdings.length).toBeGreaterThan(10 * PROCESSES)
      })
    })
  })
})
