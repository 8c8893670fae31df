import { type Finishing, temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import type { StoreChoice } from '../../src/choices.js'
import { linkPackages, project } from './project.js'
import { ServiceProcess } from './service-process.js'

/** The variables with which a service finds its store. */
type Variables = () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>

/** A real store, and how a service looks for it. */
export interface ServedStore {
  readonly right: Variables
  /** The address of nothing, where the store has an address. */
  readonly down?: Variables
  /** A wrong password, or none, where the store asks for one. */
  readonly wrongPassword?: Variables
  /** The sentence of the service when the store has refused the password. */
  readonly refused?: RegExp
  /** The sentence of the service that says what to do. */
  readonly advice?: RegExp
}

/** A service of several processes on a real store, as its README has it. */
export function describeService(store: StoreChoice, served: ServedStore): void {
  const { right, down, wrongPassword, refused = /password/, advice = /./ } = served

  function written(test: Finishing): string {
    const folder = temporaryFolder(test)
    linkPackages(folder)
    return project(folder, store, 'leader')
  }

  // One after the other: each starts processes.
  describe.sequential(`on ${store}`, () => {
    it('is started twice, one process is killed, and the other one takes over', async (test) => {
      const [folder, env] = [written(test), await right()]
      const first = await ServiceProcess.start(test, folder, env)
      await first.prints(/saved round 1/)
      const second = await ServiceProcess.start(test, folder, env)
      await second.prints(/probes on port/)
      // Both are healthy and ready, also the one that waits.
      for (const each of [first, second]) {
        const probes = [await each.probe('/healthz'), await each.probe('/readyz'), await each.probe('/other')]
        expect(probes).toEqual([200, 200, 404])
      }
      // On a machine that is too busy for heartbeats, the first one would have lost its lease.
      if (!first.printed.includes('is lost')) expect(second.printed).not.toContain('This process leads')

      await first.end('SIGKILL')
      await second.prints(/This process leads, with the fencing token \d+\.[\s\S]*saved round 1/)
      expect(tokenOf(second)).toBeGreaterThan(tokenOf(first))

      // A third one takes over at once when the second one is asked to stop.
      const third = await ServiceProcess.start(test, folder, env)
      await third.prints(/probes on port/)
      expect(await second.end('SIGTERM')).toBe(0)
      await third.prints(/This process leads[\s\S]*saved round 1/)
      expect(await third.end('SIGINT')).toBe(0)
      expect(third.printed).toContain('SIGINT: stopping')
    })

    // A folder can neither be down nor refuse a password.
    if (down !== undefined) {
      it('says what to do while the store is down, and ends when it is asked to', async (test) => {
        const service = await ServiceProcess.start(test, written(test), await down())
        await service.prints(advice)
        await service.end('SIGTERM')
      })
    }

    if (wrongPassword !== undefined) {
      it('says what to do if the store refuses the password', async (test) => {
        const service = await ServiceProcess.start(test, written(test), await wrongPassword())
        await service.prints(refused)
        await service.prints(advice)
        await service.end('SIGTERM')
      })
    }
  })
}

function tokenOf({ printed }: ServiceProcess): bigint {
  return BigInt(/fencing token (\d+)/.exec(printed)?.[1] ?? 0)
}
