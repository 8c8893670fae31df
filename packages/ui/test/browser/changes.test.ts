import { createLease, MemoryLeaseStore, readLease } from '@leasehold/core'
import { Schedule, ScheduleControl } from '@leasehold/recipes'
import { eventually, type Finishing, silentLogger } from '@leasehold/testing'
import { describeChromium } from '@leasehold/testing/describe-chromium'
import { oneBrowser } from '@leasehold/testing/one-browser'
import { describe, it } from 'vitest'
import { LeasePage } from './support/lease-page.js'
import { UiServer } from './support/ui-server.js'

const TIMES = { heartbeatTimeout: 10_000, logger: silentLogger }

async function heldLease(test: Finishing, owner: string) {
  const store = new MemoryLeaseStore()
  const lease = createLease(store, 'orders/import', { owner, ...TIMES })
  await lease.acquire()
  test.onTestFinished(async () => {
    await lease.release()
    await store.close()
  })
  return { store, lease }
}

describeChromium('an operator at the page', () => {
  const browser = oneBrowser()

  describe.concurrent('who breaks a lease', () => {
    it('gives a reason, which the record then has, and the page shows the free name', async (test) => {
      const { expect } = test
      const { store, lease } = await heldLease(test, 'ada')
      const server = await UiServer.start(test, store)
      const page = await LeasePage.open(test, browser(), server)
      await page.openLease('orders/import')
      await page.breakLease('the import hangs <since noon>')
      await eventually(
        'the lease is broken',
        async () => (await readLease(store, lease.settings.name))?.state === 'broken',
      )
      expect((await readLease(store, 'orders/import'))?.metadata.breakReason).toContain('the import hangs <since noon>')
      await page.reader.page.getByText('the import hangs <since noon>').first().waitFor()
    })

    it('says that it has changed, if another reader was faster', async (test) => {
      const { expect } = test
      const { store, lease } = await heldLease(test, 'ada')
      const server = await UiServer.start(test, store)
      const expected = [/status of 409/]
      const one = await LeasePage.open(test, browser(), server)
      const other = await LeasePage.open(test, browser(), server, { expected })
      await Promise.all([one, other].map((page) => page.openLease('orders/import')))
      await one.prepareBreak('the first')
      await other.prepareBreak('the second')
      await one.confirmBreak()
      await eventually(
        'the first one broke it',
        async () => (await readLease(store, 'orders/import'))?.state === 'broken',
      )
      // Its next holder has a larger token.
      const next = createLease(store, 'orders/import', { owner: 'bob', ...TIMES })
      expect(await next.acquire()).toBe(true)
      await other.confirmBreak()
      await other.reader.page
        .getByRole('alert')
        .filter({ hasText: /changed/i })
        .waitFor()
      expect(await readLease(store, 'orders/import')).toMatchObject({ state: 'leased', owner: 'bob' })
      expect(lease.checkLease()).toBe(false)
      await next.release()
    })
  })

  describe.concurrent('of a schedule', () => {
    it('pauses it, runs it now, and resumes it; the schedule does so, and the page shows it', async (test) => {
      const { expect } = test
      const store = new MemoryLeaseStore()
      const runs: string[] = []
      const schedule = new Schedule(store, {
        name: 'nightly-report',
        owner: 'ada',
        cron: '0 3 * * *',
        heartbeatTimeout: 2_000,
        logger: silentLogger,
        work: (tick) => void runs.push(tick.byHand?.by ?? 'timetable'),
      })
      schedule.start()
      test.onTestFinished(async () => {
        await schedule.stop()
        await store.close()
      })
      const control = new ScheduleControl(store, 'nightly-report')
      // Its record begins with its first run.
      await control.runNow({ by: 'Ada' })
      await eventually('it has run once', async () => (await control.read()).last?.outcome === 'done')

      const authorize = () => ({ access: 'write' as const, name: 'Grace' })
      const server = await UiServer.start(test, store, { authorize })
      const page = await LeasePage.come(test, browser(), server)
      await page.reader.page.goto(server.url)
      await page.view('Schedules')

      await page.pauseSchedule('nightly-report', 'the printer is being repaired')
      await page.reader.page.getByText('the printer is being repaired').first().waitFor()
      expect((await control.read()).paused).toMatchObject({ by: 'Grace', reason: 'the printer is being repaired' })

      await page.scheduleButton('nightly-report', /run now/i)
      await eventually('it runs, also while it is paused', async () => runs.length === 2)
      expect(runs).toEqual(['Ada', 'Grace'])
      await page.reader.page
        .getByText(/done after .+Grace/)
        .first()
        .waitFor()

      await page.scheduleButton('nightly-report', /resume/i)
      await eventually('it is resumed', async () => (await control.read()).paused === undefined)
      await page.reader.page.getByText('the printer is being repaired').first().waitFor({ state: 'hidden' })
    })
  })
})
