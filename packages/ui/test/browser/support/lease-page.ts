import { eventually, type Finishing } from '@leasehold/testing'
import { Reader, type ReaderOptions } from '@leasehold/testing/reader'
import type { Browser, Locator } from 'playwright-core'
import { TOKEN, type UiServer } from './ui-server.js'

/** The views, as the page names them. */
export const VIEWS = ['Leases', 'Timeline', 'Elections', 'Schedules', 'Semaphores', 'Partitions'] as const
export type View = (typeof VIEWS)[number]

/** How often Tab is pressed until something has the focus, at most. */
const MOST_TABS = 150

/** The page as its readers use it: by names and roles. */
export class LeasePage {
  readonly reader: Reader
  /** Of the page, without the token. */
  readonly url: string

  private constructor(reader: Reader, url: string) {
    this.reader = reader
    this.url = url
  }

  /** Opens the page with the link that has the token. */
  static async open(
    test: Finishing,
    browser: Browser,
    server: UiServer,
    options: Partial<ReaderOptions> = {},
  ): Promise<LeasePage> {
    const page = await LeasePage.come(test, browser, server, options)
    await page.reader.page.goto(server.urlWithToken)
    return page
  }

  /** A reader who has opened nothing yet. */
  static async come(
    test: Finishing,
    browser: Browser,
    server: UiServer,
    options: Partial<ReaderOptions> = {},
  ): Promise<LeasePage> {
    const reader = await Reader.come(test, browser, { origins: [server.origin], secret: TOKEN, ...options })
    return new LeasePage(reader, server.url)
  }

  /** The line of a lease in the list. */
  row(name: string): Locator {
    const { page } = this.reader
    return page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) })
  }

  /** Says how old the shown state is. */
  get staleness(): Locator {
    return this.reader.page.getByText(/^Stale: .+ old$/)
  }

  /** All that the page says. */
  async text(): Promise<string> {
    return (await this.reader.page.locator('body').textContent()) ?? ''
  }

  /** Whether it says a text, or says it to those who do not see it. */
  mentions(text: string): Promise<boolean> {
    const names = "[...document.querySelectorAll('[role=img]')].map((each) => each.ariaLabel)"
    return this.reader.evaluate(`[document.body.innerText, ...${names}].join(' ').includes(${JSON.stringify(text)})`)
  }

  async enterToken(token: string): Promise<void> {
    await this.reader.page.getByLabel(/token/i).fill(token)
    await this.reader.page.keyboard.press('Enter')
  }

  async view(name: View): Promise<void> {
    await this.reader.page.getByRole('navigation').getByRole('link', { name }).click()
  }

  async openLease(name: string): Promise<void> {
    await this.row(name).getByRole('link', { name }).click()
  }

  /** As a link to the lease does. */
  async goToLease(name: string): Promise<void> {
    await this.reader.evaluate(`void (location.hash = '#/lease/' + encodeURIComponent(${JSON.stringify(name)}))`)
  }

  async breakLease(reason: string): Promise<void> {
    await this.prepareBreak(reason)
    await this.confirmBreak()
  }

  async prepareBreak(reason: string): Promise<void> {
    await this.reader.page.getByRole('button', { name: /break/i }).first().click()
    await this.reader.page
      .getByRole('dialog')
      .getByLabel(/reason/i)
      .fill(reason)
  }

  async confirmBreak(): Promise<void> {
    await this.reader.page
      .getByRole('dialog')
      .getByRole('button', { name: /^break/i })
      .click()
  }

  async scheduleButton(name: string, button: RegExp): Promise<void> {
    await this.#schedule(name).getByRole('button', { name: button }).click()
  }

  async pauseSchedule(name: string, reason: string): Promise<void> {
    await this.scheduleButton(name, /pause/i)
    await this.reader.page.getByLabel(/reason/i).fill(reason)
    await this.reader.page.getByRole('dialog').getByRole('button', { name: /pause/i }).click()
  }

  /** Presses Tab until an element of this kind, whose text begins so, has the focus. */
  async tabTo(element: 'a' | 'button', text: string): Promise<void> {
    const isThere = `document.activeElement.matches('${element}') && document.activeElement.textContent.startsWith(${JSON.stringify(text)})`
    for (let presses = 0; presses < MOST_TABS; presses += 1) {
      await this.press('Tab')
      if (await this.reader.evaluate<boolean>(isThere)) return
    }
    throw new Error(`Tab reaches no ${element} with the text ${text}`)
  }

  press(key: string): Promise<void> {
    return this.reader.page.keyboard.press(key)
  }

  focusedText(): Promise<string> {
    return this.reader.evaluate('document.activeElement.textContent')
  }

  /** Types into the field for the reason, once it has the focus. */
  async typeReason(reason: string): Promise<void> {
    const focused = this.reader.page.locator(':focus').and(this.reader.page.getByLabel(/reason/i))
    await eventually('the field for the reason has the focus', async () => {
      if ((await focused.count()) > 0) return true
      await this.press('Tab')
      return false
    })
    await this.reader.page.keyboard.type(reason)
  }

  #schedule(name: string): Locator {
    const { page } = this.reader
    return page.getByRole('article').filter({ has: page.getByRole('heading', { name }) })
  }
}
