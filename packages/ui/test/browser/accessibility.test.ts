import { MemoryLeaseStore, readLease } from '@leasehold/core'
import { eventually, type Finishing } from '@leasehold/testing'
import { accessibilityFaults } from '@leasehold/testing/accessibility'
import { describeChromium } from '@leasehold/testing/describe-chromium'
import { oneBrowser } from '@leasehold/testing/one-browser'
import { describe, it } from 'vitest'
import { FLEET, work } from './support/fleet-work.js'
import { LeasePage, VIEWS } from './support/lease-page.js'
import { UiServer } from './support/ui-server.js'

async function busyStore(test: Finishing): Promise<MemoryLeaseStore> {
  const store = new MemoryLeaseStore()
  const parts = ['ada', 'bob', 'cyd'].map((owner) => work(store, owner))
  test.onTestFinished(async () => {
    await Promise.all(parts.map((part) => part.stop()))
    await store.close()
  })
  return store
}

async function busyServer(test: Finishing): Promise<UiServer> {
  return await UiServer.start(test, await busyStore(test))
}

describeChromium('the page for everybody', () => {
  const browser = oneBrowser()

  describe.concurrent('axe-core finds nothing', () => {
    for (const [scheme, width] of [
      ['dark', 1_280],
      ['light', 360],
    ] as const) {
      it(`in any view, in the ${scheme} scheme, ${width} pixels wide`, async (test) => {
        const { expect } = test
        const page = await LeasePage.open(test, browser(), await busyServer(test), { scheme, width })
        await page.reader.page.getByRole('row').nth(3).waitFor()
        for (const view of VIEWS) {
          await page.view(view)
          await eventually(`the view ${view} has something`, async () => await page.mentions('ada'))
          expect(await accessibilityFaults(page.reader.page), view).toEqual([])
          expect(await overflow(page), view).toBeLessThanOrEqual(0)
        }
        await page.goToLease(FLEET.lease)
        await page.reader.page.getByText('1.4.2').first().waitFor()
        expect(await accessibilityFaults(page.reader.page), 'a lease').toEqual([])
        await page.prepareBreak('a reason')
        expect(await accessibilityFaults(page.reader.page), 'before a break').toEqual([])
      })
    }

    it('in the question for the token', async (test) => {
      const page = await LeasePage.come(test, browser(), await busyServer(test), { expected: [/status of 401/] })
      await page.reader.page.goto(page.url)
      await page.reader.page.getByRole('textbox').or(page.reader.page.locator('input')).first().waitFor()
      test.expect(await accessibilityFaults(page.reader.page)).toEqual([])
    })
  })

  describe.concurrent('with a keyboard only', () => {
    it('reaches everything that can be used, in an order, and shows where it is', async (test) => {
      const { expect } = test
      const page = await LeasePage.open(test, browser(), await busyServer(test))
      await page.row(FLEET.lease).waitFor()
      for (const view of VIEWS) {
        await page.view(view)
        await eventually(`the view ${view} has something`, async () => await page.mentions('ada'))
        const { missed, invisible } = await tabThrough(page)
        expect(missed, view).toEqual([])
        expect(invisible, view).toEqual([])
      }
    })

    it('opens a lease, and breaks it', async (test) => {
      const { expect } = test
      const store = await busyStore(test)
      const page = await LeasePage.open(test, browser(), await UiServer.start(test, store))
      await page.row(FLEET.lease).waitFor()
      const before = (await readLease(store, FLEET.lease))?.fencingToken ?? 0n
      // The key of the filter.
      await page.press('/')
      await page.reader.page.keyboard.type(FLEET.lease)
      await page.tabTo('a', FLEET.lease)
      await page.press('Enter')
      await page.reader.page.getByText('1.4.2').first().waitFor()
      await page.tabTo('button', 'Break')
      await page.press('Enter')
      await page.reader.page.getByRole('dialog').waitFor()
      await page.press('Escape')
      await page.reader.page.getByRole('dialog').waitFor({ state: 'hidden' })
      // The focus is where it was before.
      expect(await page.focusedText()).toMatch(/break/i)
      await page.press('Enter')
      await page.typeReason('by keyboard')
      await page.press('Enter')
      await page.reader.page.getByRole('dialog').waitFor({ state: 'hidden' })
      // One of those who wait has it next.
      await eventually(
        'it was broken',
        async () => ((await readLease(store, FLEET.lease))?.fencingToken ?? 0n) > before,
      )
    })
  })
})

/** By how many pixels the page is wider than its window. */
function overflow(page: LeasePage): Promise<number> {
  return page.reader.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}

/** Presses Tab, from the beginning of the page, until the focus comes round to where it began. */
async function tabThrough(page: LeasePage): Promise<{ missed: string[]; invisible: string[] }> {
  await page.reader.evaluate(`(() => {
    // To end the focus leaves the place from which Tab goes on where it was. To focus the body puts it at the beginning.
    document.body.tabIndex = -1
    document.body.focus()
    document.body.removeAttribute('tabindex')
    const usable = 'a[href], button, input, select, textarea, summary, [role=button], [role=link], [tabindex]'
    // Radio buttons are left out: Tab reaches only one of a group. So are elements that are added later.
    globalThis.wanted = [...document.querySelectorAll(usable)].filter((each) => each.tabIndex >= 0 && each.type !== 'radio')
    globalThis.reached = new Set()
  })()`)
  const invisible: string[] = []
  for (let presses = 0; presses < 120; presses += 1) {
    await page.press('Tab')
    const seen = await page.reader.evaluate<string>(`(() => {
      const focused = document.activeElement
      // After the last element comes the window of the browser, and then the first one.
      if (focused === document.body) return ''
      const [first] = reached
      if (focused === first) return 'first'
      reached.add(focused)
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(focused)
      const box = focused.getBoundingClientRect()
      if (box.bottom < 1 || box.top > innerHeight || box.width < 1) return 'not in view: ' + focused.outerHTML.slice(0, 200)
      return (outlineStyle === 'none' || outlineWidth === '0px') && boxShadow === 'none' ? 'no mark: ' + focused.outerHTML.slice(0, 200) : ''
    })()`)
    if (seen === 'first') break
    if (seen !== '') invisible.push(seen)
  }
  const missed = await page.reader.evaluate<string[]>(`wanted
    .filter((each) => each.isConnected && each.checkVisibility() && !each.disabled && !reached.has(each))
    .map((each) => each.outerHTML.slice(0, 200))`)
  return { missed, invisible }
}
