import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root folder of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/** The web page of the repository. */
export const repositoryUrl = 'https://github.com/leasehold/leasehold'

/** The fields of a `package.json` that the tools use. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly license?: string
  readonly keywords?: readonly string[]
  readonly files?: readonly string[]
  readonly publishConfig?: { readonly access?: string }
  readonly repository?: { readonly url: string; readonly directory: string }
  readonly homepage?: string
  readonly bugs?: string
  readonly type?: string
  readonly engines?: { readonly node?: string }
  readonly private?: boolean
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<
    Record<
      string,
      string | { readonly types?: string; readonly default?: string; readonly '@leasehold/source'?: string }
    >
  >
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** A folder with a `package.json` of its own. */
export interface Workspace {
  /** The last part of its path, such as `core`. */
  readonly id: string
  readonly folder: string
  readonly manifest: Manifest
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** The package that `npm create leasehold` looks for: npm wants a name without a scope. */
const WITHOUT_SCOPE = 'create-leasehold'

/** The name of the package in the folder `id`. */
export function nameOfPackage(id: string): string {
  return id === WITHOUT_SCOPE ? id : `@leasehold/${id}`
}

/** The published packages, sorted by name. */
export function packages(): Workspace[] {
  return workspacesIn('packages')
}

/** The workspaces in the folder `parent`, sorted by name; none if the folder does not exist. */
export function workspacesIn(parent: string): Workspace[] {
  const folder = join(root, parent)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .map((id) => ({ id, folder: join(folder, id) }))
    .filter((entry) => existsSync(join(entry.folder, 'package.json')))
    .map((entry) => ({ ...entry, manifest: readManifest(entry.folder) }))
}

/** All files below a folder with one of the given endings, sorted; none if the folder does not exist. */
export function filesBelow(folder: string, ...endings: string[]): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('node_modules'))
    .sort()
}

/** A path relative to the root of the repository, for messages. */
export function shown(path: string): string {
  return relative(root, path)
}
