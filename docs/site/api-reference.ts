import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Application, Comment, type DeclarationReflection, type ProjectReflection } from 'typedoc'
import { repositoryUrl, root, shown } from '../../tools/workspaces.js'
import { API_FOLDER } from './api-folder.js'
import { type PublicEntry, publicEntries } from './public-entries.js'

/**
 * Writes the pages of all public declarations, from the sources. Throws if a docstring links to a name that does not exist.
 */
export async function writeApiReference(): Promise<void> {
  const entries = publicEntries()
  const app = await Application.bootstrapWithPlugins({
    entryPoints: entries.map(({ source }) => source),
    plugin: ['typedoc-plugin-markdown'],
    tsconfig: join(root, 'docs', 'tsconfig.api.json'),
    // The check of types has its own step.
    skipErrorChecking: true,
    basePath: root,
    name: 'API',
    readme: 'none',
    disableGit: true,
    sourceLinkTemplate: `${repositoryUrl}/blob/main/packages/{path}#L{line}`,
    excludeInternal: true,
    excludePrivate: true,
    excludeExternals: true,
    treatValidationWarningsAsErrors: true,
    validation: { invalidLink: true, notExported: false, rewrittenLink: false, notDocumented: false },
    logLevel: 'Warn',
    ...looks,
  })
  const project = await app.convert()
  if (project === undefined) throw new Error('the sources of the packages cannot be read')
  nameModules(project, entries)
  app.validate(project)
  if (app.logger.hasErrors() || app.logger.hasWarnings())
    throw new Error('the reference of the API has faults: see above')
  const folder = join(root, 'docs', API_FOLDER)
  rmSync(folder, { recursive: true, force: true })
  app.options.setValue('outputs', [{ name: 'markdown', path: folder }])
  await app.generateOutputs(project)
}

/** How the pages look: options of typedoc-plugin-markdown. */
const looks = {
  router: 'member',
  entryFileName: 'index',
  modulesFileName: 'index',
  excludeScopesInPaths: true,
  hidePageHeader: true,
  indexFormat: 'table',
  parametersFormat: 'table',
  useCodeBlocks: true,
}

/** Modules have the names by which they are imported, and those of packages the sentence of their manifests. */
function nameModules(project: ProjectReflection, entries: readonly PublicEntry[]): void {
  for (const module of project.children ?? []) {
    const source = module.sources?.[0]?.fullFileName
    const entry = entries.find((each) => each.source === source)
    if (entry === undefined) throw new Error(`${module.name} is no public entry: its source is ${source}`)
    module.name = entry.name
    if (entry.description !== undefined) module.comment = commentOf(entry, module)
  }
}

function commentOf({ description = '', folder }: PublicEntry, module: DeclarationReflection): Comment {
  const readme = `[README](${repositoryUrl}/blob/main/${shown(folder)}/README.md)`
  const own = module.comment?.summary ?? []
  return new Comment([...own, { kind: 'text', text: `${description}\n\nSee the ${readme} of the package.` }])
}
