import { declaredOptions, optionsFiles, writeOptionsFile } from './docs/provider-options.js'
import { shown } from './workspaces.js'

for (const { workspace, options } of await declaredOptions()) {
  for (const file of optionsFiles(workspace, options))
    if (writeOptionsFile(file)) console.log(`${shown(file.path)} updated`)
}
