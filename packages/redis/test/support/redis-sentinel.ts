import { eventually } from '@leasehold/testing'
import { RedisServer } from '@leasehold/testing/redis-server'

const SENTINELS = 3

/** By which name clients ask the sentinels for the master. */
const MASTER = 'leasehold'

/** The first copy is made at once, rather than after a while in which other replicas could have joined. */
const PROMPT = ['--repl-diskless-sync-delay', '0']

/** A master and its replica, watched by three sentinels, two of which have to agree. */
export class RedisSentinel {
  /** The name of the master. */
  readonly name = MASTER
  /** The servers with data: the first one is the master at first. */
  readonly servers: readonly [RedisServer, RedisServer]
  readonly sentinels: readonly RedisServer[]

  private constructor(servers: readonly [RedisServer, RedisServer], sentinels: readonly RedisServer[]) {
    this.servers = servers
    this.sentinels = sentinels
  }

  /** Resolves when the replica has all that the master has, and the sentinels could fail over. */
  static async start(): Promise<RedisSentinel> {
    const begun: RedisServer[] = []
    const start = async (options: Parameters<typeof RedisServer.start>[0]): Promise<RedisServer> => {
      const server = await RedisServer.start(options)
      begun.push(server)
      return server
    }
    try {
      const master = await start({ args: PROMPT })
      const replica = await start({ args: [...PROMPT, '--replicaof', '127.0.0.1', `${master.port}`] })
      await eventually('the replica is in sync', async () => {
        return String(await replica.command('INFO', 'replication')).includes('master_link_status:up')
      })
      const watching = { config: sentinelConfig(master.port), args: ['--sentinel'] }
      const sentinels = await Promise.all(Array.from({ length: SENTINELS }, () => start(watching)))
      await Promise.all(sentinels.map(isReady))
      return new RedisSentinel([master, replica], sentinels)
    } catch (error) {
      await Promise.all(begun.map((server) => server.stop()))
      throw error
    }
  }

  /** The one that the sentinels call the master; rejects while they do not agree. */
  async master(): Promise<RedisServer> {
    const ports = await Promise.all(this.sentinels.map(masterOf))
    const found = this.servers.find((server) => ports.every((port) => port === server.port))
    if (found === undefined) throw new Error(`the sentinels do not agree: ${ports.join(', ')}`)
    return found
  }

  /** The other one. */
  async replica(): Promise<RedisServer> {
    const master = await this.master()
    return this.servers[0] === master ? this.servers[1] : this.servers[0]
  }

  /** In order, both alive: they change places. Resolves with the new master when all sentinels know it, and it does. */
  async failover(): Promise<RedisServer> {
    const before = await this.master()
    await eventually('a sentinel begins the failover', async () => {
      // Refused while an earlier one is going on, and while no replica is known to be good.
      return (await this.sentinels[0]?.command('SENTINEL', 'FAILOVER', MASTER)) === 'OK'
    })
    return await this.#masterAfter(before)
  }

  /** Kills the master, and waits until the sentinels have made the replica the master, which takes some seconds. */
  async loseMaster(): Promise<RedisServer> {
    const before = await this.master()
    await before.kill()
    return await this.#masterAfter(before)
  }

  async stop(): Promise<void> {
    await Promise.all([...this.sentinels, ...this.servers].map((server) => server.stop()))
  }

  async #masterAfter(before: RedisServer): Promise<RedisServer> {
    let after = before
    await eventually('there is another master', async () => {
      after = await this.master()
      return after !== before && String(await after.command('INFO', 'replication')).includes('role:master')
    })
    return after
  }
}

function sentinelConfig(port: number): string {
  return `sentinel monitor ${MASTER} 127.0.0.1 ${port} 2
sentinel down-after-milliseconds ${MASTER} 1000
sentinel failover-timeout ${MASTER} 5000
`
}

async function masterOf(sentinel: RedisServer): Promise<number> {
  const address = await sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER)
  return Array.isArray(address) ? Number(address[1]) : 0
}

/** It knows the replica, and enough of the others to agree with. */
function isReady(sentinel: RedisServer): Promise<void> {
  return eventually(`the sentinel on ${sentinel.port} knows the others`, async () => {
    const [others, replicas] = [
      await sentinel.command('SENTINEL', 'SENTINELS', MASTER),
      await sentinel.command('SENTINEL', 'REPLICAS', MASTER),
    ]
    if (!Array.isArray(others) || others.length !== SENTINELS - 1 || !Array.isArray(replicas)) return false
    const isGood = (replica: unknown): boolean =>
      Array.isArray(replica) && replica[replica.indexOf('master-link-status') + 1] === 'ok'
    return replicas.length === 1 && replicas.every(isGood)
  })
}
