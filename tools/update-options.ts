import { declaredOptions, optionsFiles, writeOptionsFile } from './docs/provider-options.js'
import { recipesReferenceConf } from './docs/recipe-settings.js'
import { shown } from './workspaces.js'

const declared = await declaredOptions()
const files = declared.flatMap(({ workspace, options }) => optionsFiles(workspace, options))
for (const file of [...files, recipesReferenceConf()])
  if (writeOptionsFile(file)) console.log(`${shown(file.path)} updated`)
