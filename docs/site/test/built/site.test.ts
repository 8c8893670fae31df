import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, inTurn } from '@leasehold/testing'
import { accessibilityFaults } from '@leasehold/testing/accessibility'
import { describeChromium } from '@leasehold/testing/describe-chromium'
import { oneBrowser } from '@leasehold/testing/one-browser'
import { Reader } from '@leasehold/testing/reader'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { repositoryUrl, root } from '../../../../tools/workspaces.js'
import { addressOf, sections } from '../../navigation.js'
import { type BuiltPage, builtPages, builtSite } from '../support/built-site.js'
import { serveFolder } from '../support/static-server.js'

/** All pages that somebody writes, and one of each kind of the reference. */
const paths = [
  '/',
  ...sections().flatMap(({ pages }) => pages.map(({ file }) => addressOf(file))),
  '/reference/api/',
  '/reference/api/core/',
  '/reference/api/core/functions/createLease',
  '/reference/api/recipes/classes/LeaderElection',
  '/reference/api/sharding/interfaces/ShardRegionOptions',
  '/reference/api/testkit/type-aliases/StoreLaw',
]

/** CI reads a part of the pages for each commit: all of them take two minutes of processor time. */
const readHere = inTurn(paths, 'SITE_TURN')

let folder = ''
let origin = ''

beforeAll(async () => {
  folder = await builtSite()
  origin = await serveFolder(folder)
}, 320_000)

describe('the built site', () => {
  let pages: readonly BuiltPage[] = []
  beforeAll(() => {
    pages = builtPages(folder)
  })

  it('has every page, as HTML and as Markdown', () => {
    const built = pages.map(({ path }) => path)
    expect(built).toEqual(expect.arrayContaining(paths))
    const missing = paths
      .map((path) => join(folder, `${path.replace(/\/$/, '/index')}.md`))
      .filter((file) => !existsSync(file))
    expect(missing).toEqual([])
  })

  it('has no dead link, to a page, a heading, a file or the repository', () => {
    const ids = new Map(pages.map(({ path, html }) => [path, idsOf(html)]))
    const dead = new Set<string>()
    for (const { path, html } of pages) {
      for (const target of targetsOf(html)) if (!leadsSomewhere(target, path, ids)) dead.add(`${path}: ${target}`)
    }
    expect([...dead]).toEqual([])
  })

  it('asks nothing of another host', () => {
    const foreign = pages.flatMap(({ path, html }) =>
      [...html.matchAll(/<(?:script|img|iframe|link)[^>]+(?:src|href)="(?:https?:)?\/\/[^"]+"/g)].map(
        ([tag]) => path + tag,
      ),
    )
    expect(foreign).toEqual([])
  })

  it('has a list of its pages for programs, with a sentence on each', () => {
    const list = readFileSync(join(folder, 'llms.txt'), 'utf8')
    expect(list).toMatch(/^# Leasehold\n\n> Leasehold is a library/)
    for (const { title, pages: listed } of sections()) {
      expect(list).toContain(`\n## ${title}\n`)
      for (const { title: name, file } of listed) expect(list).toContain(`- [${name}](/${file}): `)
    }
    for (const [, file = ''] of list.matchAll(/\]\(\/([^)]+)\)/g))
      expect(existsSync(join(folder, file)), file).toBe(true)
  })

  it('has the Markdown of a page without what only builds it, and with links that lead on', () => {
    const page = readFileSync(join(folder, 'start/which-store.md'), 'utf8')
    expect(page).toMatch(/^# /)
    expect(page).not.toMatch(/<!--|\]\(\.\.\/\.\.\//)
    const whole = readFileSync(join(folder, 'llms-full.txt'), 'utf8')
    expect(whole).toContain(page)
  })

  function leadsSomewhere(target: string, from: string, ids: ReadonlyMap<string, ReadonlySet<string>>): boolean {
    const own = /^https:\/\/github\.com\/leasehold\/leasehold\/(?:blob|tree|edit)\/main\/(?<file>[^?#]+)/.exec(target)
    if (own?.groups?.file !== undefined) return existsSync(join(root, decodeURI(own.groups.file)))
    if (/^(?:https?|mailto):|^\/\//.test(target) || target.startsWith(repositoryUrl)) return true
    const { pathname, hash } = new URL(target, `http://site${from}`)
    const found = ids.get(pathname)
    if (found === undefined) return existsSync(join(folder, decodeURI(pathname))) && /\.\w+$/.test(pathname)
    return hash === '' || found.has(decodeURIComponent(hash.slice(1)))
  }
})

describeChromium('a reader of the site', () => {
  const browser = oneBrowser()

  const come = (test: TestContext) => Reader.come(test, browser(), { origins: [origin] })

  // A page that opens in a browser that is warm takes a tenth of the time: few readers, each with many pages.
  it.concurrent.for([0, 1])(
    'can read each page, in both schemes, on a screen and on a phone: part %i',
    { timeout: 300_000 },
    async (part, test) => {
      const reader = await come(test)
      const faults: string[] = []
      for (const path of readHere.filter((_, index) => index % 2 === part)) {
        faults.push(...(await faultsOf(reader, path)).map((fault) => `${path}: ${fault}`))
      }
      test.expect(faults).toEqual([])
    },
  )

  it.concurrent('can use the menus of a phone', async (test) => {
    const { page } = await come(test)
    await page.setViewportSize(PHONE)
    await visit(page, '/recipes/schedule')
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Guarantees' }).first().waitFor()
    test.expect(await accessibilityFaults(page)).toEqual([])
  })

  it.concurrent('finds the right page first', async (test) => {
    const { page } = await come(test)
    for (const [words, expected] of Object.entries(searches)) {
      await visit(page, '/start/which-store')
      await page.keyboard.press('/')
      await page.getByRole('searchbox').fill(words)
      // The results of the last search stay until those of this one are there.
      const first = page.getByRole('option').first().locator('a')
      await eventually(`${words} leads to ${expected}`, async () =>
        expected.test((await first.getAttribute('href')) ?? ''),
      )
    }
  })

  it.concurrent('goes from page to page, to a heading, and back', async (test) => {
    const { page } = await come(test)
    await visit(page, '/')
    await page.locator('main a[href$="internals/guarantees"]').first().click()
    await page.getByRole('heading', { level: 1, name: 'Guarantees' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'My cron job runs on every instance' }).waitFor()
  })
})

const DESK = { width: 1_280, height: 800 }
const PHONE = { width: 360, height: 740 }

/** What a reader searches for, and the pages that may come first. */
const searches: Readonly<Record<string, RegExp>> = {
  cron: /^\/guides\/cron-on-one-instance|^\/recipes\/schedule/,
  'leader election': /^\/recipes\/leader-election/,
  'fencing token': /^\/internals\/guarantees|^\/recipes\/lease|^\/start\//,
  'refresh token': /^\/guides\/refresh-tokens|^\/recipes\/single-flight/,
}

/** Opens a page, and waits until it reacts. */
async function visit(page: Page, path: string): Promise<void> {
  await page.goto(origin + path)
  await page.waitForFunction('document.querySelector("#app")?.__vue_app__ !== undefined')
}

/** Opens the page, and looks at it in light and in dark, on a screen and on a phone. */
async function faultsOf(reader: Reader, path: string): Promise<string[]> {
  const { page } = reader
  await page.setViewportSize(DESK)
  await page.emulateMedia({ colorScheme: 'light' })
  await visit(page, path)
  // The menus are the same on all pages.
  const part = path === '/' ? {} : { within: 'main' }
  const light = await accessibilityFaults(page, part)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('html.dark').waitFor({ state: 'attached' })
  const dark = await accessibilityFaults(page, { ...part, only: ['color-contrast'] })
  await page.setViewportSize(PHONE)
  const wide = await reader.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  return [
    ...light,
    ...dark.map((fault) => `dark: ${fault}`),
    ...(wide > 0 ? [`${wide} pixels too wide for a phone`] : []),
  ]
}

function idsOf(html: string): Set<string> {
  return new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => plain(id)))
}

function targetsOf(html: string): string[] {
  return [...html.matchAll(/<a\s[^>]*?href="([^"]*)"/g)].map(([, target = '']) => plain(target))
}

function plain(attribute: string): string {
  return attribute.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'")
}
