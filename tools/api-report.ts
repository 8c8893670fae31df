import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Extractor, ExtractorConfig, ExtractorLogLevel, type IConfigFile } from '@microsoft/api-extractor'
import { packages, shown, type Workspace } from './workspaces.js'

/**
 * Compares the public signature of every entry of every package with its committed report: `<package>.api.md` or
 * `<package>-<entry>.api.md`. `tsc -b` must have written the declarations. With `update`, writes the reports instead.
 * Returns whether all reports are up to date.
 */
export function reportApis({ update }: { readonly update: boolean }): boolean {
  const results = packages().map((workspace) => {
    const missing = new Set<string>()
    const reports = entriesOf(workspace).map((entry) => reportApi(workspace, entry, update, missing))
    return [...reports, areExported(workspace, missing)].every(Boolean)
  })
  return results.every(Boolean)
}

/** Whether the symbols that an entry uses and does not export are exported by another entry of the package. */
function areExported(workspace: Workspace, missing: ReadonlySet<string>): boolean {
  const exported = entriesOf(workspace)
    .map((entry) => readFileSync(join(workspace.folder, reportOf(workspace, entry)), 'utf8'))
    .flatMap((text) => [...text.matchAll(/^export (?:\w+ )*?(?:class|interface|type|const|function) (\w+)/gm)])
    .map(([, name]) => name)
  const lacking = [...missing].filter((name) => !exported.includes(name))
  for (const name of lacking) console.error(`${shown(workspace.folder)}: no entry exports ${name}, which its API uses`)
  return lacking.length === 0
}

function reportOf({ id }: Workspace, entry: string): string {
  return `${[id, ...entry.split('/').slice(1)].join('-')}.api.md`
}

/** The entries of a package, such as `.` and `./store`; without `./internal`, which is for packages of the same version. */
function entriesOf({ manifest }: Workspace): string[] {
  return Object.entries(manifest.exports ?? {}).flatMap(([entry, target]) =>
    typeof target === 'object' && target.types !== undefined && entry !== './internal' ? [entry] : [],
  )
}

function reportApi(workspace: Workspace, name: string, update: boolean, missing: Set<string>): boolean {
  const where = shown(workspace.folder)
  const target = workspace.manifest.exports?.[name]
  const entry = join(workspace.folder, typeof target === 'object' ? (target.types ?? '') : '')
  if (!existsSync(entry)) {
    console.error(`${where}: no declarations in dist; run "npm run build" first`)
    return false
  }
  const report = reportOf(workspace, name)
  const config = ExtractorConfig.prepare({
    configObject: configOf(workspace, entry, report),
    configObjectFullPath: undefined,
    packageJsonFullPath: join(workspace.folder, 'package.json'),
  })
  const { apiReportChanged, errorCount } = Extractor.invoke(config, {
    localBuild: update,
    messageCallback: (message) => {
      // Most of the output would be messages of the extractor about itself.
      if (message.messageId.startsWith('console-')) message.logLevel = ExtractorLogLevel.None
      const [, symbol] = /^The symbol "(\w+)"/.exec(message.text) ?? []
      if (message.messageId !== 'ae-forgotten-export' || symbol === undefined) return
      missing.add(symbol)
      message.logLevel = ExtractorLogLevel.None
    },
  })
  console.log(`${join(where, report)}: ${resultText(apiReportChanged, errorCount, update)}`)
  return errorCount === 0 && (update || !apiReportChanged)
}

function resultText(changed: boolean, errors: number, update: boolean): string {
  if (changed && !update) return 'out of date; run "npm run api", and commit the report'
  if (errors > 0) return 'see above'
  return changed ? 'written; commit it' : 'good'
}

function configOf(workspace: Workspace, entry: string, report: string): IConfigFile {
  return {
    projectFolder: workspace.folder,
    mainEntryPointFilePath: entry,
    compiler: {
      // Without the source condition, the extractor reads the declarations of other packages, not their sources.
      overrideTsconfig: {
        extends: '../../tsconfig.base.json',
        compilerOptions: { customConditions: [], composite: false, incremental: false },
        files: [entry],
      },
    },
    apiReport: {
      enabled: true,
      reportFileName: report,
      reportFolder: workspace.folder,
      reportTempFolder: join(workspace.folder, 'temp'),
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages: {
      compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
      extractorMessageReporting: {
        // Reported as errors: lines in the report would change whenever the source moves by a line.
        default: { logLevel: ExtractorLogLevel.Error },
        // Everything in index.ts is public, so no release tags are needed. `name: string` needs no docstring.
        'ae-missing-release-tag': { logLevel: ExtractorLogLevel.None },
        'ae-undocumented': { logLevel: ExtractorLogLevel.None },
      },
      tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
    },
  }
}
