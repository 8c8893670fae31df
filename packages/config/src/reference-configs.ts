import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

const MANIFEST = 'package.json'
const REFERENCE = 'reference.conf'

/** The kinds of dependencies in a manifest, each a map by name. */
type Manifest = { readonly [Kind in 'dependencies' | 'optionalDependencies' | 'peerDependencies']?: object }

/**
 * Returns the path of the `reference.conf` of the application and of all its direct and indirect dependencies. A package
 * comes before the packages that depend on it, so that they can override its settings.
 */
export function findReferenceConfigs(folder: string): readonly string[] {
  const found: string[] = []
  const seen = new Set<string>()
  const visit = (packageFolder: string): void => {
    const real = realpathSync(packageFolder)
    if (seen.has(real)) return
    seen.add(real)
    for (const name of dependenciesOf(real)) {
      const dependency = findPackage(name, real)
      if (dependency !== undefined) visit(dependency)
    }
    const file = join(real, REFERENCE)
    if (existsSync(file)) found.push(file)
  }
  const application = [...upwards(folder)].find((parent) => existsSync(join(parent, MANIFEST)))
  if (application !== undefined) visit(application)
  return found
}

function dependenciesOf(folder: string): string[] {
  let manifest: Manifest
  try {
    manifest = JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')) as Manifest
  } catch {
    // Without a readable manifest, the package has no known dependencies.
    return []
  }
  const { dependencies, optionalDependencies, peerDependencies } = manifest
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
}

/** Finds a package in the way that Node resolves an import from a folder. */
function findPackage(name: string, from: string): string | undefined {
  const candidates = [...upwards(from)].map((folder) => join(folder, 'node_modules', name))
  return candidates.find((candidate) => existsSync(join(candidate, MANIFEST)))
}

function* upwards(from: string): Generator<string, undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    yield folder
    if (dirname(folder) === folder) return undefined
  }
}
