import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'
import { PATIENCE } from './launch-chromium.js'
import type { Finishing } from './temporary-folder.js'

export interface ReaderOptions {
  /** Of the page. Requests to any other origin are faults. */
  readonly origins: readonly string[]
  /** Must stand in the address of no request. */
  readonly secret?: string
  /** Messages of the console that the test expects, such as that of an answer with the status 409. */
  readonly expected?: readonly RegExp[]
  readonly scheme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
  readonly locale?: string
  readonly timeZone?: string
}

/**
 * A person at a browser of their own: no cookie or storage of another reader. At the end of the test, it fails for each error
 * in the console or on a page, each dialog, and each request to another origin.
 */
export class Reader {
  readonly context: BrowserContext
  readonly page: Page
  readonly faults = new Set<string>()
  /** The addresses of all requests so far. */
  readonly requests: string[] = []
  readonly #options: ReaderOptions

  private constructor(context: BrowserContext, page: Page, options: ReaderOptions) {
    this.context = context
    this.page = page
    this.#options = options
  }

  static async come(test: Finishing, browser: Browser, options: ReaderOptions): Promise<Reader> {
    const { scheme = 'light', width = 1_280, height = 800, locale = 'en-GB', timeZone = 'Europe/Berlin' } = options
    const context = await browser.newContext({
      colorScheme: scheme,
      viewport: { width, height },
      locale,
      timezoneId: timeZone,
    })
    // Before the page: what it does at the end is not watched any more.
    test.onTestFinished(async () => {
      await context.close()
      expect([...reader.faults]).toEqual([])
    })
    context.setDefaultTimeout(PATIENCE)
    const reader = new Reader(context, await context.newPage(), options)
    reader.#watch()
    return reader
  }

  /** Evaluates an expression in the page. The tests are not compiled with the types of a browser. */
  evaluate<T>(expression: string): Promise<T> {
    return this.page.evaluate<T>(expression)
  }

  #watch(): void {
    const { expected = [], origins, secret } = this.#options
    const fault = (text: string) => {
      if (!expected.some((each) => each.test(text))) this.faults.add(text)
    }
    this.context.on('weberror', (error) => fault(`page error: ${error.error().stack ?? error.error().message}`))
    this.context.on('console', (message) => {
      if (['error', 'warning', 'assert'].includes(message.type())) {
        fault(`console ${message.type()}: ${message.text()} (${message.location().url})`)
      }
    })
    this.context.on('dialog', (dialog) => {
      fault(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    this.context.on('request', (request) => {
      const url = request.url()
      this.requests.push(url)
      const { protocol, origin } = new URL(url)
      if (protocol !== 'data:' && protocol !== 'about:' && !origins.includes(origin))
        fault(`request to elsewhere: ${url}`)
      if (secret !== undefined && url.includes(secret)) fault(`the token is in ${url}`)
    })
  }
}
