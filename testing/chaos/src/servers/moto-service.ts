import { MotoServer } from '@leasehold/testing/moto-server'
import { ServerClock } from '@leasehold/testing/server-clock'
import { ClientWay } from '../systems/client-way.js'
import type { RunningSystem, SystemFault } from '../systems/system.js'
import { boundedClockFaults, clockLeftOut } from './clock-faults.js'
import { RequestsInTurn } from './requests-in-turn.js'

/** What a client process of a service of moto gets. */
export interface MotoSettings {
  /** Of its own proxy. */
  readonly endpoint: string
  readonly operationTimeout: number
}

interface MotoScene {
  readonly clients: number
  readonly operationTimeout: number
  readonly ttl: number
  /** The setting of the store: by how much the clocks of two servers may differ, in milliseconds. */
  readonly clockDifference: number
}

/**
 * One moto, which stands for a service of AWS. It keeps everything in its memory, and the service loses nothing, so it is
 * never killed: it is frozen, and the ways of the clients to it are cut. Its threads do not make every request atomic, so
 * it gets one at a time. Its clock is set back and forth, as far as the clocks of two servers of the service may differ.
 */
export async function startMoto(
  { clients, operationTimeout, clockDifference, ttl }: MotoScene,
  prepare: (endpoint: string) => Promise<void>,
): Promise<RunningSystem> {
  const clock = ServerClock.make('threads')
  const server = await MotoServer.start(undefined, clock)
  await prepare(server.url)
  const front = await RequestsInTurn.to(server.port)
  const ways = await Promise.all(Array.from({ length: clients }, (_, place) => ClientWay.to([front.port], place + 1)))
  return {
    settingsFor(client): MotoSettings {
      const [port = 0] = ways[client - 1]?.ports ?? []
      return { endpoint: `http://127.0.0.1:${port}`, operationTimeout }
    },
    faults: [
      frozen(server),
      ...boundedClockFaults(clock, { target: 'clock of server 1', difference: clockDifference, forward: 2 * ttl }),
      ...ways.flatMap(({ faults }) => faults),
    ],
    leftOut: clockLeftOut(clock),
    async heal() {
      for (const way of ways) way.heal()
      // Behind all requests in line, which wait for it: not `data.json`, which has all that moto keeps.
      const answer = await fetch(`http://127.0.0.1:${front.port}/moto-api/config`)
      await answer.body?.cancel()
    },
    async stop() {
      await Promise.all(ways.map((way) => way.close()))
      await front.close()
      await server.stop()
      clock?.remove()
    },
  }
}

function frozen(server: MotoServer): SystemFault {
  return {
    kind: 'freeze-server',
    target: 'server 1',
    weight: 2,
    lasts: [100, 6_000],
    begin: () => server.freeze(),
    end: () => server.thaw(),
  }
}
