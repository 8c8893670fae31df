import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { RecipeChoice, StoreChoice } from './choices.js'
import { readPart, templates } from './part.js'

/** The name in the templates. */
const PLACEHOLDER = /my-service/g

/** Files that npm would not pack under their own names. */
const RENAMED: Readonly<Record<string, string>> = { gitignore: '.gitignore', dockerignore: '.dockerignore' }

/** Files of the templates that become a part of another file. */
const FRAGMENTS: readonly string[] = ['part.json', 'container.md']

export interface Project {
  readonly name: string
  readonly store: StoreChoice
  readonly recipe: RecipeChoice
  /** The version of the packages of this repository. */
  readonly version: string
}

/** The files of a project, by their paths. */
export function projectFiles({ name, store, recipe, version }: Project): ReadonlyMap<string, string> {
  const [common, ofStore, ofRecipe] = [
    join(templates, 'common'),
    folderOf('stores', store),
    folderOf('recipes', recipe),
  ]
  const files = new Map([common, ofStore, ofRecipe].flatMap((folder) => [...filesIn(folder)]))
  files.set('package.json', manifest(common, { store, recipe, version }))
  files.set('README.md', readme(common, ofStore, ofRecipe))
  if (existsSync(join(ofStore, 'kubernetes.yaml'))) {
    files.set('kubernetes.yaml', [common, ofStore].map((folder) => textOf(folder, 'kubernetes.yaml')).join('---\n'))
  } else {
    // Not for Kubernetes: the processes of the store are on one machine.
    files.delete('kubernetes.yaml')
  }
  return new Map([...files].map(([path, text]) => [path, text.replace(PLACEHOLDER, name)]))
}

function folderOf(kind: 'stores' | 'recipes', id: string): string {
  return join(templates, kind, id)
}

function filesIn(folder: string): ReadonlyMap<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
  const copied = paths.filter((path) => !FRAGMENTS.includes(path))
  return new Map(copied.map((path) => [RENAMED[path] ?? path, textOf(folder, path)]))
}

function textOf(folder: string, file: string): string {
  return readFileSync(join(folder, file), 'utf8')
}

/** The `package.json`, with the packages that the parts import. */
function manifest(common: string, { store, recipe, version }: Omit<Project, 'name'>): string {
  const parts = [readPart('stores', store), readPart('recipes', recipe)]
  const own = (ids: readonly string[]) => Object.fromEntries(ids.map((id) => [`@leasehold/${id}`, `^${version}`]))
  const others = Object.assign({}, ...parts.map(({ dependencies }) => dependencies))
  const dependencies = { ...own(['core', ...parts.flatMap(({ packages }) => packages)]), ...others }
  const sorted = Object.fromEntries(Object.entries(dependencies).sort(([a], [b]) => (a < b ? -1 : 1)))
  const written = {
    ...JSON.parse(textOf(common, 'package.json')),
    dependencies: sorted,
    devDependencies: own(['testkit']),
  }
  return `${JSON.stringify(written, undefined, 2)}\n`
}

/** The README, with the texts of the parts in their places. */
function readme(common: string, ofStore: string, ofRecipe: string): string {
  const milliseconds = heartbeatTimeout(ofStore)
  const container = existsSync(join(ofStore, 'container.md')) ? ofStore : common
  const texts: Readonly<Record<string, string>> = {
    recipe: textOf(ofRecipe, 'README.md').trim(),
    store: textOf(ofStore, 'README.md').trim(),
    container: textOf(container, 'container.md').trim(),
    seconds: String(milliseconds / 1_000),
    milliseconds: String(milliseconds),
  }
  return textOf(common, 'README.md').replace(/<!-- (\w+) -->/g, (comment, word) => texts[word] ?? comment)
}

/** The ttl that `store.js` exports. */
function heartbeatTimeout(ofStore: string): number {
  const [, digits = ''] = /^export const heartbeatTimeout = ([\d_]+)$/m.exec(textOf(ofStore, 'src/store.js')) ?? []
  return Number(digits.replaceAll('_', ''))
}
