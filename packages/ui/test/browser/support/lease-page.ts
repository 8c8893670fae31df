import type { Browser, Locator } from 'playwright-core'
import type { Finishing } from '@leasehold/testing'
import { Reader, type ReaderOptions } from './reader.js'
import { TOKEN, type UiServer } from './ui-server.js'

export type View = 'Leases' | 'Timeline' | 'Elections' | 'Schedules' | 'Semaphores' | 'Partition groups'

/** The views, as the page names them. */
export const VIEWS: readonly View[] = ['Leases', 'Timeline', 'Elections', 'Schedules', 'Semaphores', 'Partition groups']

/** The page as its readers use it: by names and roles. */
export class LeasePage {
  readonly reader: Reader

  private constructor(reader: Reader) {
    this.reader = reader
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
    return new LeasePage(await Reader.come(test, browser, { origins: [server.origin], secret: TOKEN, ...options }))
  }

  /** The line of a lease in the list. */
  row(name: string): Locator {
    return this.reader.page.getByRole('row').filter({ has: this.reader.page.getByText(name, { exact: true }) })
  }

  /** The banner that says how old the shown state is. */
  get staleness(): Locator {
    return this.reader.page.getByRole('status').filter({ hasText: /stale|not reached|no answer|cannot be reached/i })
  }

  async view(name: View): Promise<void> {
    await this.reader.page.getByRole('link', { name }).click()
  }

  async openLease(name: string): Promise<void> {
    await this.row(name).getByRole('link', { name }).click()
  }
}
