import { eventually, type Finishing } from '@leasehold/testing'
import { accessibilityFaults } from '@leasehold/testing/accessibility'
import { describeChromium } from '@leasehold/testing/describe-chromium'
import { oneBrowser } from '@leasehold/testing/one-browser'
import { Reader, type ReaderOptions } from '@leasehold/testing/reader'
import { describe, it } from 'vitest'
import { oneSite } from './site.js'

describeChromium('the playground in a browser', () => {
  const browser = oneBrowser()
  const site = oneSite()

  /** A visitor on the page, which has begun. Any message of its console fails the test, and any request to elsewhere. */
  async function visit(test: Finishing, options: Omit<ReaderOptions, 'origins'> & { readonly scene?: string } = {}) {
    const { scene = '', ...how } = options
    const { url, origin } = site()
    const reader = await Reader.come(test, browser(), { ...how, origins: [origin] })
    await reader.page.goto(url + scene)
    await reader.page.getByRole('heading', { name: 'Lease playground' }).waitFor()
    return reader
  }

  const press = (reader: Reader, name: string | RegExp) =>
    reader.page.getByRole('button', { name, exact: typeof name === 'string' }).click()

  const events = (reader: Reader, text: string | RegExp) =>
    reader.page.getByRole('region', { name: 'What happened' }).getByText(text).first().waitFor()

  it('plays a scene: another node takes over, and the late write is refused', async (test) => {
    const reader = await visit(test)
    await press(reader, '4×')
    await press(reader, /^2\. Pause the holder/)
    await events(reader, 'grants the lease to B, with token 2')
    await events(reader, 'lost the lease: no heartbeat got through before its validity ended')
    await events(reader, 'refuses the write of A with token 1: it has seen 2')
    await reader.page.getByText('1 write', { exact: true }).waitFor()
    test.expect(new URL(reader.page.url()).hash).toBe('#pause-the-holder')
  })

  it('plays the scene in its address', async (test) => {
    const reader = await visit(test, { scene: '#kill-the-holder' })
    await reader.page.getByText('A is dead.').waitFor()
    await reader.page.getByRole('button', { name: 'Start (A)' }).waitFor()
  })

  it('lets a visitor kill the holder, and start it again', async (test) => {
    const reader = await visit(test)
    await press(reader, '4×')
    await press(reader, 'Kill (A)')
    await events(reader, 'grants the lease to B, with token 2')
    await press(reader, 'Start (A)')
    await reader.page.getByLabel('Node A').getByText('waiter 2').waitFor()
  })

  it('lets a visitor cut a link, break the lease and restart the store', async (test) => {
    const reader = await visit(test)
    await press(reader, '4×')
    await press(reader, 'Cut link (A)')
    await events(reader, 'grants the lease to B, with token 2')
    await press(reader, 'Mend link (A)')
    await reader.page.getByLabel('Node A').getByText('waiter 2').waitFor()
    await press(reader, 'Break lease')
    await events(reader, 'grants the lease to C, with token 3')
    await press(reader, 'Restart')
    await events(reader, 'is up again, with its records')
  })

  it('stops, goes on by steps, and goes on', async (test) => {
    const { expect } = test
    const reader = await visit(test)
    await press(reader, 'Stop time')
    const now = async () => Number.parseFloat(await shownTime(reader))
    const before = await now()
    await press(reader, 'Step 0.1 s')
    await reader.page
      .getByText(`${(before + 0.1).toFixed(1)} s`, { exact: true })
      .first()
      .waitFor()
    expect(await now()).toBeCloseTo(before + 0.1, 5)
    await press(reader, 'Go on')
    await eventually('time goes on', async () => (await now()) > before + 0.5)
  })

  it('works without a network once it has loaded', async (test) => {
    const reader = await visit(test)
    await reader.context.setOffline(true)
    await press(reader, '4×')
    await press(reader, /^5\. Release the lease/)
    await events(reader, 'grants the lease to B, with token 2')
  })

  describe.concurrent('axe-core finds nothing', () => {
    for (const [scheme, width] of [
      ['dark', 1_280],
      ['light', 360],
    ] as const) {
      it(`in the ${scheme} scheme, ${width} pixels wide, also when much is broken`, async (test) => {
        const { expect } = test
        const reader = await visit(test, { scheme, width, height: 740 })
        await press(reader, '4×')
        await press(reader, /^2\. Pause the holder/)
        await events(reader, 'refuses the write of A with token 1: it has seen 2')
        await press(reader, 'Stop time')
        expect(await accessibilityFaults(reader.page)).toEqual([])
        expect(await overflow(reader)).toBeLessThanOrEqual(0)
        if (width < 480) for (const letter of ['A', 'B', 'C']) await press(reader, `Act (${letter})`)
        await press(reader, 'Pause (A)')
        await press(reader, 'Kill (C)')
        await press(reader, 'Slow link (B)')
        await press(reader, 'Cut link (A)')
        await press(reader, 'Restart')
        expect(await accessibilityFaults(reader.page)).toEqual([])
        expect(await overflow(reader)).toBeLessThanOrEqual(0)
      })
    }
  })

  it('can be used with a keyboard only', async (test) => {
    const { expect } = test
    const reader = await visit(test)
    const focused = () => reader.evaluate<string>('document.activeElement.textContent')
    const tabTo = async (name: RegExp): Promise<void> => {
      for (let presses = 0; presses < 60; presses += 1) {
        await reader.page.keyboard.press('Tab')
        if (name.test(await focused())) return
      }
      expect.fail(`Tab does not reach ${name}`)
    }
    await tabTo(/^1\. Kill the holder/)
    await tabTo(/^4×/)
    await reader.page.keyboard.press('Enter')
    await tabTo(/^Kill \(A\)/)
    const outline = await reader.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')
    expect(outline).toBe('solid')
    await reader.page.keyboard.press('Space')
    await events(reader, 'grants the lease to B, with token 2')
  })

  it('follows the switch between light and dark of the page around it', async (test) => {
    const { origin } = site()
    const reader = await Reader.come(test, browser(), { origins: [origin], scheme: 'light' })
    await reader.page.goto(`${origin}/docs/start/playground`)
    await reader.page.frameLocator('iframe').getByRole('heading', { name: 'Lease playground' }).waitFor()
    const ground = () =>
      reader.evaluate<string>(
        "getComputedStyle(document.querySelector('iframe').contentDocument.documentElement).getPropertyValue('--ground')",
      )
    test.expect(await ground()).toBe('#0f1513')
    await reader.evaluate("document.documentElement.classList.remove('dark')")
    await eventually('it is light', async () => (await ground()) === '#f4f6f4')
  })

  it('stands still at first for a visitor who wants no motion', async (test) => {
    const { expect } = test
    const { url, origin } = site()
    const reader = await Reader.come(test, browser(), { origins: [origin] })
    await reader.page.emulateMedia({ reducedMotion: 'reduce' })
    await reader.page.goto(url)
    await reader.page.getByRole('button', { name: 'Go on', exact: true }).waitFor()
    const before = await shownTime(reader)
    await reader.page.evaluate('new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))')
    expect(await shownTime(reader)).toBe(before)
    await press(reader, 'Step 0.1 s')
    await eventually('a step was made', async () => (await shownTime(reader)) !== before)
  })
})

/** The time of the world, as the page shows it. */
function shownTime(reader: Reader): Promise<string> {
  return reader.evaluate("document.querySelector('.now').textContent")
}

/** By how many pixels the page is wider than its window. */
function overflow(reader: Reader): Promise<number> {
  return reader.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}
