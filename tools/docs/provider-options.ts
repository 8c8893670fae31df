import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ProviderOptions } from '@leasehold/core/store-kit'
import { packages, type Workspace } from '../workspaces.js'

const TABLE = /(<!-- options -->\n)[\s\S]*?(<!-- \/options -->)/

/** A file that is generated from the declared options of a provider. */
export interface OptionsFile {
  readonly path: string
  readonly text: string
}

/** The providers with declared options: their factories carry the declarations. */
export async function declaredOptions(): Promise<{ workspace: Workspace; options: ProviderOptions }[]> {
  const found: { workspace: Workspace; options: ProviderOptions }[] = []
  for (const workspace of packages()) {
    // A program.
    if (workspace.manifest.exports?.['.'] === undefined) continue
    const exported: Record<string, { options?: unknown }> = await import(workspace.manifest.name)
    for (const value of Object.values(exported)) {
      if (value?.options instanceof ProviderOptions) found.push({ workspace, options: value.options })
    }
  }
  return found
}

/** What `reference.conf` and the options table of the README of a provider have to be. */
export function optionsFiles({ folder }: Workspace, options: ProviderOptions): OptionsFile[] {
  const readme = join(folder, 'README.md')
  const page = readFileSync(readme, 'utf8')
  if (!TABLE.test(page)) throw new Error(`${readme} has no <!-- options --> … <!-- /options --> for the table`)
  return [
    { path: join(folder, 'reference.conf'), text: options.referenceConf() },
    { path: readme, text: page.replace(TABLE, (_, begin: string, end: string) => `${begin}${options.table()}${end}`) },
  ]
}

export function writeOptionsFile({ path, text }: OptionsFile): boolean {
  if (readFileSync(path, 'utf8') === text) return false
  writeFileSync(path, text)
  return true
}
