import { MemoryLeaseStore } from '@leasehold/core'
import { eventually, type Finishing, temporaryFolder } from '@leasehold/testing'
import { describeChromium } from '@leasehold/testing/describe-chromium'
import { oneBrowser } from '@leasehold/testing/one-browser'
import { whyNoPostgres } from '@leasehold/testing/postgres-binary'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { redisProgram } from '@leasehold/testing/redis-program'
import { RedisServer } from '@leasehold/testing/redis-server'
import { describe, it } from 'vitest'
import { workers } from './support/fleet.js'
import { openStore, type StorePlace } from './support/fleet-store.js'
import { FLEET, work } from './support/fleet-work.js'
import { LeasePage } from './support/lease-page.js'
import { SeveredStore } from './support/severed-store.js'
import { UiServer } from './support/ui-server.js'

/** A service whose processes come, go, and are killed. */
interface Service {
  readonly server: UiServer
  start(owner: string): Promise<void>
  /** An orderly end: it releases what it holds. */
  end(owner: string): Promise<void>
  /** It ends in the middle of its work, and releases nothing. */
  kill(owner: string): Promise<void>
}

/** A store that no process can reach for a while. */
interface Outage {
  begin(): void | Promise<void>
  end(): void | Promise<void>
}

interface StoreOfService {
  readonly service: Service
  readonly outage?: Outage
}

async function processesOn(test: Finishing, place: StorePlace): Promise<Service> {
  const { store, close } = await openStore(place)
  test.onTestFinished(close)
  const server = await UiServer.start(test, store, { timeout: 2_000 })
  const fleet = await workers(test)
  return {
    server,
    start: (owner) => fleet.start({ owner, place }),
    end: (owner) => fleet.kill(owner, 'SIGTERM'),
    kill: (owner) => fleet.kill(owner),
  }
}

/** Leases in memory are those of one process: parts of it that are cut off stand for killed processes. */
async function partsOfThisProcess(test: Finishing): Promise<Service> {
  const store = new MemoryLeaseStore()
  const server = await UiServer.start(test, store)
  const parts = new Map<string, { readonly way: SeveredStore; readonly work: ReturnType<typeof work> }>()
  test.onTestFinished(async () => {
    await Promise.all([...parts.values()].map((part) => part.work.stop()))
    await store.close()
  })
  return {
    server,
    start: async (owner) => {
      const way = new SeveredStore(store)
      parts.set(owner, { way, work: work(way.store, owner) })
    },
    end: async (owner) => {
      await parts.get(owner)?.work.stop()
    },
    kill: async (owner) => {
      parts.get(owner)?.way.cut()
    },
  }
}

const stores: readonly {
  readonly title: string
  readonly whyNot?: string | undefined
  readonly start: (test: Finishing) => Promise<StoreOfService>
}[] = [
  { title: 'in memory', start: async (test) => ({ service: await partsOfThisProcess(test) }) },
  {
    title: 'in a folder of this machine',
    start: async (test) => ({ service: await processesOn(test, { kind: 'local', folder: temporaryFolder(test) }) }),
  },
  {
    title: 'in Redis',
    whyNot: redisProgram.whyNot,
    start: async (test) => {
      const redis = await RedisServer.start()
      test.onTestFinished(() => redis.stop())
      const service = await processesOn(test, { kind: 'redis', url: redis.url })
      return { service, outage: { begin: () => redis.freeze(), end: () => redis.thaw() } }
    },
  },
  {
    title: 'in PostgreSQL',
    whyNot: whyNoPostgres,
    start: async (test) => {
      const postgres = await PostgresServer.start()
      test.onTestFinished(() => postgres.stop())
      const service = await processesOn(test, { kind: 'postgres', url: postgres.url })
      return { service, outage: { begin: () => postgres.kill(), end: () => postgres.restart() } }
    },
  },
]

describeChromium('the page of a service whose processes end and are killed', () => {
  const browser = oneBrowser()

  describe.concurrent('with its leases', () => {
    for (const { title, whyNot, start } of stores) {
      it.skipIf(whyNot !== undefined)(
        `${title}: shows holders, a hand-over, a loss and the new holder`,
        async (test) => {
          const { service, outage } = await start(test)
          // During the outage, requests fail with this status.
          const page = await LeasePage.open(test, browser(), service.server, { expected: [/status of 503/] })
          const shown = async (name: string) => (await page.row(name).textContent()) ?? ''
          const holder = async (): Promise<string> => /ada|bob|cyd/.exec(await shown(FLEET.lease))?.[0] ?? ''

          await service.start('ada')
          await eventually('the page shows the first holder', async () => (await holder()) === 'ada')
          await Promise.all([service.start('bob'), service.start('cyd')])

          await service.end('ada')
          await eventually('the page shows the next holder', async () => /bob|cyd/.test(await holder()))
          const second = await holder()
          await service.kill(second)
          const last = second === 'bob' ? 'cyd' : 'bob'
          await eventually('the page shows the last holder', async () => (await holder()) === last)

          await page.view('Elections')
          await eventually('the last process leads', async () => (await page.text()).includes(last))
          await page.view('Partitions')
          await eventually('the last process has all partitions', async () => !(await page.text()).includes(second))
          await page.view('Timeline')
          await page.reader.page.getByRole('img', { name: new RegExp(`^${FLEET.lease}: held by ${last}`) }).waitFor()
          await page.goToLease(FLEET.lease)
          const grants = page.reader.page.getByRole('region', { name: 'Grants' }).getByRole('row')
          await grants.filter({ hasText: last }).filter({ hasText: 'still held' }).waitFor()
          await grants.filter({ hasText: second }).filter({ hasText: 'expired' }).waitFor()
          await grants
            .filter({ hasText: 'ada' })
            .filter({ hasText: /released|handed off/ })
            .waitFor()

          if (outage === undefined) return
          await page.view('Leases')
          await outage.begin()
          await page.staleness.waitFor()
          // The page still shows the last list.
          await page.row(FLEET.election).waitFor()
          await outage.end()
          await page.staleness.waitFor({ state: 'hidden' })
          await eventually('the last process holds again', async () => (await holder()) === last)
        },
      )
    }
  })
})
