import { createLease, type HandOff } from '@leasehold/core'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { Random } from '../../../../packages/testkit/src/random.js'
import { Recorder } from '../record/recorder.js'
import type { Connect, Connection, RivalConnection } from '../systems/system.js'
import type { ClientMessage } from './client-message.js'
import type { ClientSettings } from './client-settings.js'
import { Contender } from './contender.js'
import { DriftingClock } from './drifting-clock.js'
import { RecordedLease } from './recorded-lease.js'
import { RegisterWriter } from './register-writer.js'
import { WallClock } from './wall-clock.js'

const MOST_ORIGIN = 1e9

/** A process of a client: contends for all names until its time is over. Its settings are its first argument, as JSON. */
export async function runClient(connect: Connect): Promise<void> {
  const settings = JSON.parse(process.argv[2] ?? '') as ClientSettings
  const { client, life, names, system, until, rate, wallLead } = settings
  const random = new Random(settings.seed).fork(client * 1_000 + life)
  const wall = new WallClock(wallLead)
  const clock = new DriftingClock({ rate, origin: random.between(0, MOST_ORIGIN), wall })
  const recorder = new Recorder(settings.record, { client, life })
  const contenders = new Map<string, Contender>()
  process.on('message', (message: ClientMessage) => {
    if (message.type === 'step-wall-clock') wall.step(message.by)
    else contenders.get(message.handOff.name)?.adopt(message.handOff)
  })
  // Without the runner, nobody would end this process.
  process.on('disconnect', () => process.exit(1))
  const connection = await connect(system as never, names, clock)
  // Other libraries say for themselves which clock they read.
  if ('store' in connection) wall.replaceDate()
  for (const [place, name] of names.entries()) {
    contenders.set(
      name,
      contenderFor(name, { settings, random: random.fork(place), clock, recorder, connection, until }),
    )
  }
  await Promise.all([...contenders.values()].map((contender) => contender.run()))
  await connection.close()
  process.exit(0)
}

interface Place {
  readonly settings: ClientSettings
  readonly random: Random
  readonly clock: DriftingClock
  readonly recorder: Recorder
  readonly connection: Connection | RivalConnection
  readonly until: number
}

function contenderFor(name: string, { settings, random, clock, recorder, connection, until }: Place): Contender {
  const { client, clients, life, pace, timeouts } = settings
  const ownerOf = (number: number): string => `client-${number}`
  const owner = ownerOf(client)
  const { ttl } = timeouts
  const others = Array.from({ length: clients }, (_, place) => place + 1).filter((number) => number !== client)
  const recorded = (isSilent: boolean): RecordedLease | undefined => {
    if ('lease' in connection) {
      return isSilent ? undefined : new RecordedLease(connection.lease(name, owner, clock), recorder, clock)
    }
    const { heartbeatInterval, operationTimeout } = timeouts
    const strategy = isSilent ? ({ strategy: 'manual' } as const) : { heartbeatInterval }
    const environment = { clock, logger: silentLogger, random: () => random.next() }
    const lease = createLease(connection.store, name, {
      owner,
      heartbeatTimeout: ttl,
      operationTimeout,
      ...strategy,
      ...environment,
    })
    return new RecordedLease(lease, recorder, clock)
  }
  const lease = recorded(false)
  if (lease === undefined) throw new Error('a connection needs a store or leases')
  const give = (handOff: HandOff): void => {
    const to = Number(handOff.owner.split('-')[1])
    process.send?.({ type: 'given', to, handOff } satisfies ClientMessage)
  }
  return new Contender({
    random,
    writer: new RegisterWriter(name, connection.register(name), recorder, `${client}.${life}`),
    ttl,
    pace,
    until,
    lease,
    silentLease: recorded(true),
    otherOwner: () => ownerOf(others[random.whole(0, others.length - 1)] ?? client),
    give,
  })
}
