#!/bin/sh
# Full-text indexes beside FTS5 in C, in one run: run.sh FOLDER [DOCUMENTS [COMMITS]]; prints CPU seconds and milliseconds.
# COMMITS is the number of commits of one document, all documents if it is absent.
# The index has its pages in SQLite, as FTS5 has them, with synchronous=OFF and a cache of 64 MB, in LMDB and in LevelDB; FTS5 keeps no content, as the index keeps none.
set -e
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
documents=${2:-100000}
commits=${3:-$documents}
sh "$here/build.sh" "$folder"
cd "$folder"
rm -rf sqlite.db* fts5.db* lmdb.mdb* leveldb.ldb commits.*
./search generate corpus "$documents"
set -- "a term" ba "two terms" "ba be" "either" "ba OR be" "a rare term" zuzo "a phrase" '"ba be"' "a rare phrase" '"mid bebi"' "a prefix" 'bo*'
echo "FTS5" && ./fts5 build fts5.db corpus "$documents" ", content=''"
echo "SQLite" && ./search build sqlite sqlite.db corpus "$documents"
echo "LMDB" && ./search build lmdb lmdb.mdb corpus "$documents"
echo "LevelDB" && ./search build leveldb leveldb.ldb corpus "$documents"
du -sb fts5.db sqlite.db lmdb.mdb leveldb.ldb
echo "FTS5" && ./fts5 queries fts5.db corpus "$@"
echo "SQLite" && ./search queries sqlite sqlite.db corpus 0 "$@"
echo "LMDB" && ./search queries lmdb lmdb.mdb corpus 0 "$@"
echo "LevelDB" && ./search queries leveldb leveldb.ldb corpus 0 "$@"
echo "FTS5" && ./fts5 commits commits.fts5 corpus "$commits" ", content=''"
echo "SQLite" && ./search commits sqlite commits.db corpus "$commits"
echo "LMDB" && ./search commits lmdb commits.mdb corpus "$commits"
echo "LevelDB" && ./search commits leveldb commits.ldb corpus "$commits"
