/** Prints the faults of the files of a `tsconfig.json`, as `tsc -p FOLDER` does, but does not check the sources that they import. */
import ts from 'typescript'

const [, , file = ''] = process.argv
const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (fault) => print([fault]) }
const { fileNames, options, errors } = ts.getParsedCommandLineOfConfigFile(file, {}, host)
const program = ts.createProgram(fileNames, options)
const checked = fileNames.map((name) => program.getSourceFile(name))

function print(faults) {
  process.stdout.write(
    ts.formatDiagnostics(faults, { ...ts.sys, getCanonicalFileName: (name) => name, getNewLine: () => '\n' }),
  )
}

print(errors)
print(checked.flatMap((one) => [...program.getSyntacticDiagnostics(one), ...program.getSemanticDiagnostics(one)]))
process.stdout.write(`${checked.length} files\n`)
