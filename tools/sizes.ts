import { reportSizes } from './entry-sizes.js'

const asked = process.argv.slice(2)
if (asked.some((argument) => argument !== '--update')) {
  console.error('usage: npm run sizes [-- --update]: prints what each entry weighs; --update sets the budgets')
  process.exitCode = 64
} else if (!(await reportSizes({ update: asked.includes('--update') }))) {
  process.exitCode = 1
}
