import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResults {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[]
  }[]
}

/**
 * Runs axe-core on the page, and returns a text for each fault. `only`: by these rules; `within`: on the part with this
 * selector. Its source is evaluated through the developer tools of the browser. The content security policy does not apply
 * there, so the page keeps it.
 */
export async function accessibilityFaults(
  page: Page,
  { only, within }: { readonly only?: readonly string[]; readonly within?: string } = {},
): Promise<string[]> {
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(axe)
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  const options = {
    runOnly: only === undefined ? { type: 'tag', values: tags } : { type: 'rule', values: only },
    resultTypes: ['violations'],
  }
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify(within ?? 'html')}, ${JSON.stringify(options)})`,
  )
  return violations.map(({ id, help, nodes }) => {
    const places = nodes.slice(0, 5).map(({ target, failureSummary }) => `  ${target.join(' ')}: ${failureSummary}`)
    return [`${id}: ${help} (${nodes.length})`, ...places].join('\n')
  })
}
