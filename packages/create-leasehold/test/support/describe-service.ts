import { type Finishing, temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import type { StoreChoice } from '../../src/choices.js'
import { linkPackages, project } from './project.js'
import { ServiceProcess } from './service-process.js'

export interface RunningStore {
  /** The variables with which a service finds the store. */
  readonly env: Readonly<Record<string, string>>
}

export interface Access {
  /** The variables with the address of nothing. */
  readonly nowhere?: Readonly<Record<string, string>>
  /** The sentence of the service for it. */
  readonly advice?: RegExp
}

/** A service of two processes on a real store, as its README has it. */
export function describeService(store: StoreChoice, start: () => Promise<RunningStore>, { nowhere, advice }: Access = {}): void {
  describe(`a service on ${store}`, { concurrent: true }, () => {
    function written(test: Finishing): string {
      const folder = temporaryFolder(test)
      linkPackages(folder)
      return project(folder, store, 'leader')
    }

    it('is started twice, one process is killed, and the other one takes over', async (test) => {
      const { env } = await start()
      const folder = written(test)
      const first = await ServiceProcess.start(test, folder, env)
      await first.prints(/saved round 1/)
      const second = await ServiceProcess.start(test, folder, env)
      await second.prints(/ready to lead/)
      // Both are healthy, and ready: also the one that waits.
      for (const each of [first, second]) {
        expect([await each.probe('/healthz'), await each.probe('/readyz'), await each.probe('/x')]).toEqual([200, 200, 404])
      }
      expect(second.printed).not.toMatch(/leads/)

      await first.end('SIGKILL')
      await second.prints(/This process leads, with the fencing token \d+\.[\s\S]*saved round 1/)
      const token = (printed: string) => BigInt(/token (\d+)/.exec(printed)?.[1] ?? 0)
      expect(token(second.printed)).toBeGreaterThan(token(first.printed))

      // A third one takes over at once when the second is asked to stop.
      const third = await ServiceProcess.start(test, folder, env)
      await third.prints(/ready to lead/)
      expect(await second.end('SIGTERM')).toBe(0)
      await third.prints(/This process leads/)
      expect(await third.end('SIGINT')).toBe(0)
      expect(third.printed).toMatch(/SIGINT: stopping/)
    })

    it.skipIf(nowhere === undefined)('says what to do while the store is down', async (test) => {
      const service = await ServiceProcess.start(test, written(test), nowhere ?? {})
      await service.prints(advice ?? /./)
    })
  })
}
