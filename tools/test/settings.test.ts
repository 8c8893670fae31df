import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, parseHocon } from '@leasehold/config'
import { LeaseConfigurationError, LeaseProvider, memoryLease } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { settingKeys } from '../../packages/core/src/provider/lease-block.js'
import { declaredOptions, optionsFiles } from '../docs/provider-options.js'
import { recipesReferenceConf } from '../docs/recipe-settings.js'
import { packages, root } from '../workspaces.js'

const declared = await declaredOptions()
const shipping = packages().filter(({ folder }) => existsSync(join(folder, 'reference.conf')))

/** The settings in the `reference.conf` of a package, including commented settings, which have no default. */
function reference(folder: string): Config {
  const text = readFileSync(join(folder, 'reference.conf'), 'utf8')
  return parseHocon(text.replaceAll(/^( *)# ([a-z-]+ = .*)$/gm, '$1$2'), { env: {} })
}

/** The code words in one column of the tables of a document. */
function column(file: string, place: number): string[] {
  const rows = readFileSync(join(root, file), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'))
  return rows.flatMap((row) => [...(row.split('|')[place] ?? '').matchAll(/`([\w-]+)`/g)].map(([, word]) => word ?? ''))
}

function keysIn(config: Config, path: string): string[] {
  return Object.keys(config.getConfig(path).toObject())
    .filter((key) => key !== 'lease-class')
    .sort()
}

describe('a duration of a configuration', () => {
  it.each([
    ['1e400', 'heartbeat-timeout must be a duration such as 12s, 500ms or infinite, not 1e400'],
    ['1e400 s', 'heartbeat-timeout must be a duration'],
    [`${'9'.repeat(400)} days`, 'heartbeat-timeout must be a duration'],
  ])('that is too large for a number is invalid and does not mean "no expiry": %s', async (written, message) => {
    const config = parseHocon(`leasehold.lease { lease-class = memory, heartbeat-timeout = ${written} }`, { env: {} })
    await using provider = new LeaseProvider(config, { memory: memoryLease })
    const got = provider.getLease('job', 'leasehold.lease')
    await expect(got).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(got).rejects.toThrow(message)
  })
})

describe('reference.conf', () => {
  it('of core has all settings of the engine, and so has the table in the docs', () => {
    const keys = [...Object.values(settingKeys), 'heartbeat-thread', 'recorder'].sort()
    expect(keysIn(reference(join(root, 'packages/core')), 'leasehold.lease')).toEqual(keys)
    expect(column('docs/reference/settings.md', 2)).toEqual(expect.arrayContaining(keys))
    expect(column('docs/reference/settings.md', 1)).toEqual(expect.arrayContaining(Object.keys(settingKeys)))
  })

  it.each(shipping.filter(({ id }) => id !== 'core' && id !== 'recipes'))(
    'of $id has all options of its factory, and so has its README',
    async ({ id, folder }) => {
      const exported: Record<string, { optionKeys?: readonly string[] }> = await import(`@leasehold/${id}`)
      const options = Object.entries(exported).find(([name]) => /^(?!create)[a-z]\w*Lease$/.test(name))?.[1].optionKeys
      const keys = options?.map((name) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)).sort()
      expect(keysIn(reference(folder), `leasehold.${id}`)).toEqual(keys)
      expect(column(`packages/${id}/README.md`, 1)).toEqual(expect.arrayContaining([...(options ?? [])]))
    },
  )

  it.each(declared)(
    'of $options.kind, and the table of its README, are up to date with the declared options',
    ({ workspace, options }) => {
      for (const { path, text } of optionsFiles(workspace, options)) {
        expect(readFileSync(path, 'utf8'), 'run "npm run docs:update"').toBe(text)
      }
    },
  )

  it('of recipes is up to date with the declared settings', () => {
    const { path, text } = recipesReferenceConf()
    expect(readFileSync(path, 'utf8'), 'run "npm run docs:update"').toBe(text)
  })

  it.each(shipping)('of $id is shipped', ({ folder }) => {
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).files).toContain('reference.conf')
  })
})
